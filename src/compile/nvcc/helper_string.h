/*
 * What programs use of helper_string.h of NVIDIA's samples, where that is not installed: options on
 * the command line, as "-name" or "--name=value", and files looked for beside the program.
 */
#ifndef PMPP_HELPER_STRING_H
#define PMPP_HELPER_STRING_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, n, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf
#endif

/* What stands behind "=" of option @name, "" if nothing does; NULL: it is not given. */
inline const char *pmpp_option(int argc, const char **argv, const char *name)
{
	const size_t n = strlen(name);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i] + strspn(argv[i], "-");
		if (word > argv[i] && !strncasecmp(word, name, n) && (!word[n] || word[n] == '='))
			return word + n + (word[n] == '=');
	}
	return NULL;
}

inline bool checkCmdLineFlag(int argc, const char **argv, const char *name)
{
	return pmpp_option(argc, argv, name) != NULL;
}

inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name)
{
	const char *value = pmpp_option(argc, argv, name);
	return value ? atoi(value) : 0;
}

inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name)
{
	const char *value = pmpp_option(argc, argv, name);
	return value ? (float)atof(value) : 0;
}

inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **out)
{
	const char *value = pmpp_option(argc, argv, name);
	*out = value ? strdup(value) : NULL;
	return value != NULL;
}

template <class T>
inline bool getCmdLineArgumentValue(int argc, const char **argv, const char *name, T *out)
{
	const char *value = pmpp_option(argc, argv, name);
	if (value)
		*out = (T)atof(value);
	return value != NULL;
}

inline int stringRemoveDelimiter(char delimiter, const char *text)
{
	int i = 0;
	while (text[i] == delimiter)
		i++;
	return text[i] ? i : 0;
}

/* NULL: it is in none of the usual folders. The caller's. */
inline char *sdkFindFilePath(const char *name, const char *program)
{
	const std::string beside = program ? std::string(program) : std::string();
	const size_t slash = beside.rfind('/');
	const std::string folder = slash == std::string::npos ? "./" : beside.substr(0, slash + 1);
	const std::string folders[] = { "./", "./data/", "../data/", folder, folder + "data/" };
	for (const std::string &f : folders) {
		const std::string path = f + name;
		if (FILE *file = fopen(path.c_str(), "rb")) {
			fclose(file);
			return strdup(path.c_str());
		}
	}
	return NULL;
}

#endif
