/*
 * What programs use of helper_image.h of NVIDIA's samples, where that is not installed: files of
 * numbers, and pictures as portable grey (P5) and pixel maps (P6), of bytes or of floats from 0 to
 * 1. Memory that they return is malloc()ed where the caller gave none.
 */
#ifndef PMPP_HELPER_IMAGE_H
#define PMPP_HELPER_IMAGE_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

template <class T> inline bool sdkReadFile(const char *name, T **data, unsigned *n, bool verbose)
{
	std::ifstream file(name);
	std::vector<T> found;
	for (T v; file >> v;)
		found.push_back(v);
	if (found.empty()) {
		if (verbose)
			fprintf(stderr, "%s: no numbers\n", name);
		return false;
	}
	if (!*data)
		*data = (T *)malloc(found.size() * sizeof(T));
	else if (*n < found.size())
		found.resize(*n);
	*n = (unsigned)found.size();
	memcpy(*data, found.data(), found.size() * sizeof(T));
	return true;
}

/* @most, what later comparisons allow, stands first, behind "#". */
template <class T, class S>
inline bool sdkWriteFile(const char *name, const T *data, unsigned n, const S most, bool verbose,
                         bool append = false)
{
	std::ofstream file(name, append ? std::ios::app : std::ios::trunc);
	if (!append)
		file << "# " << most << "\n";
	for (unsigned i = 0; i < n; i++)
		file << data[i] << ' ';
	file << "\n";
	if (!file.good() && verbose)
		fprintf(stderr, "%s: cannot be written\n", name);
	return file.good();
}

inline void sdkDumpBin(void *data, unsigned bytes, const char *name)
{
	if (FILE *file = fopen(name, "wb")) {
		fwrite(data, 1, bytes, file);
		fclose(file);
	}
}

/* --- pictures --- */

struct pmpp_picture {
	unsigned width, height, channels;
	std::vector<unsigned char> bytes;
};

/* The next number of a picture's head; lines from "#" on are skipped. */
inline unsigned pmpp_head_number(FILE *file)
{
	int c = fgetc(file);
	while (c == '#' || c == ' ' || c == '\t' || c == '\n' || c == '\r') {
		while (c == '#' && (c = fgetc(file)) != '\n' && c != EOF)
			c = '#';
		c = fgetc(file);
	}
	unsigned v = 0;
	for (; c >= '0' && c <= '9'; c = fgetc(file))
		v = 10 * v + (unsigned)(c - '0');
	return v;
}

inline bool pmpp_load_picture(const char *name, unsigned channels, pmpp_picture *p)
{
	FILE *file = name ? fopen(name, "rb") : NULL;
	if (!file) {
		fprintf(stderr, "%s: cannot be opened\n", name ? name : "(no file)");
		return false;
	}
	const bool known = fgetc(file) == 'P' && fgetc(file) == (channels == 3 ? '6' : '5');
	p->channels = channels;
	p->width = pmpp_head_number(file);
	p->height = pmpp_head_number(file);
	const bool deep = pmpp_head_number(file) != 255;
	p->bytes.resize(known ? (size_t)p->width * p->height * channels : 0);
	const bool all = fread(p->bytes.data(), 1, p->bytes.size(), file) == p->bytes.size();
	fclose(file);
	if (!known || deep || !all || p->bytes.empty())
		fprintf(stderr, "%s: not a whole P%d file of 8 bits\n", name, channels == 3 ? 6 : 5);
	return known && !deep && all && !p->bytes.empty();
}

inline bool pmpp_save_picture(const char *name, const pmpp_picture &p)
{
	FILE *file = fopen(name, "wb");
	if (!file)
		return false;
	fprintf(file, "P%d\n%u\n%u\n255\n", p.channels == 3 ? 6 : 5, p.width, p.height);
	const bool all = fwrite(p.bytes.data(), 1, p.bytes.size(), file) == p.bytes.size();
	return fclose(file) == 0 && all;
}

template <class T> struct pmpp_texel {
	static T of(unsigned char v)
	{
		return (T)(v / 255.0f);
	}
	static unsigned char from(T v)
	{
		return (unsigned char)(v * (T)255);
	}
};
template <> struct pmpp_texel<unsigned char> {
	static unsigned char of(unsigned char v)
	{
		return v;
	}
	static unsigned char from(unsigned char v)
	{
		return v;
	}
};

template <class T>
inline bool sdkLoadPGM(const char *name, T **data, unsigned *width, unsigned *height)
{
	pmpp_picture p;
	if (!pmpp_load_picture(name, 1, &p))
		return false;
	if (!*data)
		*data = (T *)malloc(p.bytes.size() * sizeof(T));
	for (size_t i = 0; i < p.bytes.size(); i++)
		(*data)[i] = pmpp_texel<T>::of(p.bytes[i]);
	*width = p.width;
	*height = p.height;
	return true;
}

template <class T>
inline bool sdkSavePGM(const char *name, T *data, unsigned width, unsigned height)
{
	pmpp_picture p = { width, height, 1, std::vector<unsigned char>((size_t)width * height) };
	for (size_t i = 0; i < p.bytes.size(); i++)
		p.bytes[i] = pmpp_texel<T>::from(data[i]);
	return pmpp_save_picture(name, p);
}

/* Four values a pixel, the fourth 0. */
template <class T>
inline bool sdkLoadPPM4(const char *name, T **data, unsigned *width, unsigned *height)
{
	pmpp_picture p;
	if (!pmpp_load_picture(name, 3, &p))
		return false;
	const size_t pixels = (size_t)p.width * p.height;
	if (!*data)
		*data = (T *)malloc(4 * pixels * sizeof(T));
	for (size_t i = 0; i < pixels; i++)
		for (unsigned c = 0; c < 4; c++)
			(*data)[4 * i + c] = c < 3 ? pmpp_texel<T>::of(p.bytes[3 * i + c]) : (T)0;
	*width = p.width;
	*height = p.height;
	return true;
}

inline bool sdkLoadPPM4ub(const char *name, unsigned char **data, unsigned *width, unsigned *height)
{
	return sdkLoadPPM4(name, data, width, height);
}

inline bool sdkSavePPM4ub(const char *name, unsigned char *data, unsigned width, unsigned height)
{
	const size_t pixels = (size_t)width * height;
	pmpp_picture p = { width, height, 3, std::vector<unsigned char>(3 * pixels) };
	for (size_t i = 0; i < 3 * pixels; i++)
		p.bytes[i] = data[4 * (i / 3) + i % 3];
	return pmpp_save_picture(name, p);
}

inline bool pmpp_same_pictures(const char *a, const char *b, unsigned channels, float most,
                               float few)
{
	pmpp_picture p, q;
	if (!pmpp_load_picture(a, channels, &p) || !pmpp_load_picture(b, channels, &q) ||
	    p.bytes.size() != q.bytes.size() || p.width != q.width)
		return false;
	size_t wrong = 0;
	for (size_t i = 0; i < p.bytes.size(); i++)
		wrong += std::fabs((float)p.bytes[i] - (float)q.bytes[i]) > most;
	return (double)wrong <= (double)few * (double)p.bytes.size();
}

inline bool sdkComparePPM(const char *data, const char *expected, const float most, const float few,
                          bool)
{
	return pmpp_same_pictures(data, expected, 3, most, few);
}

inline bool sdkComparePGM(const char *data, const char *expected, const float most, const float few,
                          bool)
{
	return pmpp_same_pictures(data, expected, 1, most, few);
}

#endif
