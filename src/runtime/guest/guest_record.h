/*
 * The program's end of the records (runtime/record.h): what happened is written here, in order.
 * Where nobody listens (no descriptor, or the explorer has gone) nothing is written.
 */
#ifndef PMPP_RUNTIME_GUEST_RECORD_H
#define PMPP_RUNTIME_GUEST_RECORD_H

#include "runtime/fatbin.h"
#include "runtime/guest/guest.h"
#include "runtime/record.h"

/* Takes the descriptor from the environment and reads what is asked of us. False with @err: there
 * is none, or it is not the explorer's. Where another process of the program is recorded already,
 * nothing that this one does is: record_is_open() is false. */
bool record_open(struct record_config *config, struct gpu_spec *gpu, struct err *err);
void record_close(void);
bool record_is_open(void);
/* In a fork: records go to @fd from now on, and so many launches have been. */
void record_redirect(int fd, uint64_t launches);
/* Launch @number can be run again by whoever has the other end of @fd. */
void record_keeper(uint64_t number, int fd);

/* Asks the explorer and waits for its answer, in which what @code points to lies: wire_free() it in
 * any case. False: there is no explorer, or it does not answer. */
bool record_ask_code(const struct record_code_request *ask, struct wire_msg *answer,
                     struct record_code *code);
void record_module(struct guest_module *m, const char *ptx, size_t n,
                   const struct fatbin_entry *cubin);
void record_kernel(struct guest_function *f);
void record_launch(const struct record_launch *r, const struct run_counts *counts);
void record_copy(struct record_copy *r); /* numbers it */
void record_progress(const struct record_progress *r);
void record_event(const struct record_event *r);
void record_finding(const struct record_finding *r);
/* Something that the runtime cannot do for the program; each text once. */
void record_problem(const char *kind, const struct err *err);
void record_end(struct record_end *r);
void record_memory(const struct record_memory *r);
/* @fd: a file that holds its bytes. */
void record_contents(const struct record_range *r, int fd);

/* A variable's name as the person wrote it, as far as the program can tell. */
void record_plain_name(const char *mangled, char *name, size_t n);
/* "file.cu:12" or "a.out+0x1234" of an address in the program, as far as it is known here. */
void record_place(const void *address, char *text, size_t n);
/* guest_site.c: a call at @caller and what called the function that holds it, for the life of the
 * process; as "place" or "place from place". The device's lock is held. */
const void *guest_site(const void *caller);
void guest_site_place(const void *site, char *text, size_t n);
/* Launch that runs now or ran last: findings of the host's calls name it. */
uint64_t record_launch_number(void);

#endif
