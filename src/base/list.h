/*
 * A list that an enum and its tables are made from is written once, as a macro of rows
 * X(ID, "name", "what it is"). These take a column of it: enum kind { KINDS(LIST_ID) N_KINDS };
 */
#ifndef PMPP_BASE_LIST_H
#define PMPP_BASE_LIST_H

#define LIST_ID(id, ...) id,
#define LIST_NAME(id, name, ...) [id] = (name),
#define LIST_ABOUT(id, name, about, ...) [id] = (about),

#endif
