/*
 * Surface references (surface<void, 2> out; removed in CUDA 12) by surface objects: a reference is
 * a managed variable, in which binding leaves an object, and access takes it from there.
 */
#ifndef PMPP_SURFACE_REFERENCES_H
#define PMPP_SURFACE_REFERENCES_H

template <class T = void, int dimensions = 1> struct earlier_surface {
	cudaSurfaceObject_t object;
};

template <class T, int d>
static inline cudaError_t cudaBindSurfaceToArray(earlier_surface<T, d> &s, cudaArray_const_t array)
{
	cudaResourceDesc what = {};
	what.resType = cudaResourceTypeArray;
	what.res.array.array = const_cast<cudaArray_t>(array);
	if (s.object)
		cudaDestroySurfaceObject(s.object);
	s.object = 0;
	return cudaCreateSurfaceObject(&s.object, &what);
}

template <class T, int d>
static inline cudaError_t cudaBindSurfaceToArray(earlier_surface<T, d> &s, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &)
{
	return cudaBindSurfaceToArray(s, array);
}

#define PMPP_UNPACK_PLACE(...) __VA_ARGS__
#define PMPP_SURFACE(name, dimensions, parameters, place)                                          \
	template <class V, class T>                                                                    \
	static __device__ inline V name##read(const earlier_surface<T, dimensions> &s,                 \
	                                      PMPP_UNPACK_PLACE parameters,                            \
	                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)     \
	{                                                                                              \
		return name##read<V>(s.object, PMPP_UNPACK_PLACE place, mode);                             \
	}                                                                                              \
	template <class V, class T>                                                                    \
	static __device__ inline void name##read(V *value, const earlier_surface<T, dimensions> &s,    \
	                                         PMPP_UNPACK_PLACE parameters,                         \
	                                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)  \
	{                                                                                              \
		name##read(value, s.object, PMPP_UNPACK_PLACE place, mode);                                \
	}                                                                                              \
	template <class V, class T>                                                                    \
	static __device__ inline void name##write(V value, const earlier_surface<T, dimensions> &s,    \
	                                          PMPP_UNPACK_PLACE parameters,                        \
	                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
	{                                                                                              \
		name##write(value, s.object, PMPP_UNPACK_PLACE place, mode);                               \
	}
PMPP_SURFACE(surf1D, 1, (int x), (x))
PMPP_SURFACE(surf2D, 2, (int x, int y), (x, y))
PMPP_SURFACE(surf3D, 3, (int x, int y, int z), (x, y, z))
PMPP_SURFACE(surf1DLayered, 0xf1, (int x, int layer), (x, layer))
PMPP_SURFACE(surf2DLayered, 0xf2, (int x, int y, int layer), (x, y, layer))
PMPP_SURFACE(surfCubemap, 0x0c, (int x, int y, int face), (x, y, face))
#undef PMPP_SURFACE
#undef PMPP_UNPACK_PLACE

#define surface __device__ __managed__ earlier_surface

#endif
