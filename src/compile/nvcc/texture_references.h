/*
 * Texture references (texture<float, 2> tex; removed in CUDA 12) by texture objects: a reference is
 * a managed variable, in which binding leaves an object, and reading takes it from there.
 */
#ifndef PMPP_TEXTURE_REFERENCES_H
#define PMPP_TEXTURE_REFERENCES_H

template <class T, int dimensions = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct earlier_texture {
	int normalized;
	cudaTextureFilterMode filterMode;
	cudaTextureAddressMode addressMode[3];
	cudaChannelFormatDesc channelDesc;
	int sRGB;
	unsigned maxAnisotropy;
	cudaTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	cudaTextureObject_t object;
};

/* What a fetch gives: the element, or its components as float. */
template <class T, cudaTextureReadMode mode> struct earlier_fetched {
	typedef T type;
};
#define PMPP_NORMALIZED(element, result)                                       \
	template <> struct earlier_fetched<element, cudaReadModeNormalizedFloat> { \
		typedef result type;                                                   \
	};
PMPP_NORMALIZED(char, float)
PMPP_NORMALIZED(signed char, float)
PMPP_NORMALIZED(unsigned char, float)
PMPP_NORMALIZED(short, float)
PMPP_NORMALIZED(unsigned short, float)
PMPP_NORMALIZED(char2, float2)
PMPP_NORMALIZED(uchar2, float2)
PMPP_NORMALIZED(short2, float2)
PMPP_NORMALIZED(ushort2, float2)
PMPP_NORMALIZED(char4, float4)
PMPP_NORMALIZED(uchar4, float4)
PMPP_NORMALIZED(short4, float4)
PMPP_NORMALIZED(ushort4, float4)
#undef PMPP_NORMALIZED

/* --- binding --- */

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t earlier_bind(earlier_texture<T, d, mode> &t, const cudaResourceDesc &what)
{
	cudaTextureDesc how = {};
	for (int i = 0; i < 3; i++)
		how.addressMode[i] = t.addressMode[i];
	how.filterMode = t.filterMode;
	how.readMode = mode;
	how.sRGB = t.sRGB;
	how.normalizedCoords = t.normalized;
	how.maxAnisotropy = t.maxAnisotropy;
	how.mipmapFilterMode = t.mipmapFilterMode;
	how.mipmapLevelBias = t.mipmapLevelBias;
	how.minMipmapLevelClamp = t.minMipmapLevelClamp;
	how.maxMipmapLevelClamp = t.maxMipmapLevelClamp;
	if (t.object)
		cudaDestroyTextureObject(t.object);
	t.object = 0;
	return cudaCreateTextureObject(&t.object, &what, &how, nullptr);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, earlier_texture<T, d, mode> &t,
                                          const void *p, const cudaChannelFormatDesc &desc,
                                          size_t bytes = 1u << 27)
{
	cudaResourceDesc what = {};
	what.resType = cudaResourceTypeLinear;
	what.res.linear.devPtr = const_cast<void *>(p);
	what.res.linear.desc = desc;
	what.res.linear.sizeInBytes = bytes;
	if (offset)
		*offset = 0;
	return earlier_bind(t, what);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, earlier_texture<T, d, mode> &t,
                                          const void *p, size_t bytes = 1u << 27)
{
	return cudaBindTexture(offset, t, p, cudaCreateChannelDesc<T>(), bytes);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, earlier_texture<T, d, mode> &t,
                                            const void *p, const cudaChannelFormatDesc &desc,
                                            size_t width, size_t height, size_t pitch)
{
	cudaResourceDesc what = {};
	what.resType = cudaResourceTypePitch2D;
	what.res.pitch2D.devPtr = const_cast<void *>(p);
	what.res.pitch2D.desc = desc;
	what.res.pitch2D.width = width;
	what.res.pitch2D.height = height;
	what.res.pitch2D.pitchInBytes = pitch;
	if (offset)
		*offset = 0;
	return earlier_bind(t, what);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, earlier_texture<T, d, mode> &t,
                                            const void *p, size_t width, size_t height,
                                            size_t pitch)
{
	return cudaBindTexture2D(offset, t, p, cudaCreateChannelDesc<T>(), width, height, pitch);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(earlier_texture<T, d, mode> &t, cudaArray_t array)
{
	cudaResourceDesc what = {};
	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	return earlier_bind(t, what);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(earlier_texture<T, d, mode> &t, cudaArray_t array,
                                                 const cudaChannelFormatDesc &)
{
	return cudaBindTextureToArray(t, array);
}

template <class T, int d, cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(earlier_texture<T, d, mode> &t)
{
	const cudaError_t e = t.object ? cudaDestroyTextureObject(t.object) : cudaSuccess;
	t.object = 0;
	return e;
}

/* --- reading --- */

#define PMPP_FETCH(function, dimensions, parameters, arguments)                                    \
	template <class T, cudaTextureReadMode mode>                                                   \
	static __device__ inline typename earlier_fetched<T, mode>::type function(                     \
		const earlier_texture<T, dimensions, mode> &t, PMPP_UNPACK parameters)                     \
	{                                                                                              \
		return function<typename earlier_fetched<T, mode>::type>(t.object, PMPP_UNPACK arguments); \
	}
#define PMPP_UNPACK(...) __VA_ARGS__
PMPP_FETCH(tex1Dfetch, 1, (int i), (i))
PMPP_FETCH(tex1D, 1, (float x), (x))
PMPP_FETCH(tex2D, 2, (float x, float y), (x, y))
PMPP_FETCH(tex3D, 3, (float x, float y, float z), (x, y, z))
PMPP_FETCH(tex1DLayered, 0xf1, (float x, int layer), (x, layer))
PMPP_FETCH(tex2DLayered, 0xf2, (float x, float y, int layer), (x, y, layer))
PMPP_FETCH(texCubemap, 0x0c, (float x, float y, float z), (x, y, z))
#undef PMPP_FETCH

#define texture __device__ __managed__ earlier_texture

#endif
