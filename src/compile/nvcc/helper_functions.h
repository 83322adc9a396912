/* What programs use of helper_functions.h of NVIDIA's samples, where that is not installed. */
#ifndef PMPP_HELPER_FUNCTIONS_H
#define PMPP_HELPER_FUNCTIONS_H

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"

/* Is the distance of two vectors within @most of the length of the first? */
inline bool sdkCompareL2fe(const float *expected, const float *data, unsigned n, float most)
{
	double apart = 0, length = 0;
	for (unsigned i = 0; i < n; i++) {
		apart += ((double)expected[i] - data[i]) * ((double)expected[i] - data[i]);
		length += (double)expected[i] * expected[i];
	}
	return length > 0 && std::sqrt(apart / length) < most;
}

/* Are all but a share @few of them within @most? */
template <class T, class S>
inline bool compareData(const T *expected, const T *data, unsigned n, const S most, const float few)
{
	unsigned wrong = 0;
	for (unsigned i = 0; i < n; i++)
		wrong += !(std::fabs((double)expected[i] - (double)data[i]) <= (double)most);
	return few > 0 ? wrong <= few * n : wrong == 0;
}

/* The same, of what both are as floats. */
template <class T, class S>
inline bool compareDataAsFloatThreshold(const T *expected, const T *data, unsigned n, const S most,
                                        const float few)
{
	return compareData(expected, data, n, most, few);
}

#endif
