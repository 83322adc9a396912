"""Counters of whole programs that depend on timing, and why: programs_compare.py leaves them out
of what must be equal and says how many they are."""
ANY = "*"
# program: (kernels, metrics, reason); kernels and metrics are words, ANY all of them
TIMING = {
}
