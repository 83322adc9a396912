/*
 * Entry of the GPU worker: the same program, started again by itself.
 *
 * main() calls this before anything else when argv[1] is CUDA_WORKER_OPTION:
 *
 *	if (argc == 3 && !strcmp(argv[1], CUDA_WORKER_OPTION))
 *		return cuda_worker_main(atoi(argv[2]));
 */
#ifndef PMPP_CUDA_CUDA_WORKER_H
#define PMPP_CUDA_CUDA_WORKER_H

#define CUDA_WORKER_OPTION "--cuda-worker"

/* Serves requests that come through socket @fd until it is closed. Returns the exit status. */
int cuda_worker_main(int fd);

#endif
