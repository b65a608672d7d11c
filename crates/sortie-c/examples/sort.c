/*
 * Every function of sortie.h that sorts. Build the library with `cargo build --release -p sortie-c`, and in the root of the
 * repository:
 *
 *     cc -I crates/sortie-c/include crates/sortie-c/examples/sort.c -o sort -L target/release -lsortie_c
 *     LD_LIBRARY_PATH=target/release ./sort
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sortie.h"

/* Ends the program if a call did not sort. */
static void check(sortie_status status) {
    if (status != SORTIE_STATUS_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, sortie_last_error());
        exit(1);
    }
}

static void print_doubles(const char *title, const double *numbers, size_t n) {
    printf("%s:", title);
    for (size_t i = 0; i < n; i++)
        printf(" %g", numbers[i]);
    printf("\n");
}

static void print_ints(const char *title, const int32_t *numbers, size_t n) {
    printf("%s:", title);
    for (size_t i = 0; i < n; i++)
        printf(" %d", (int)numbers[i]);
    printf("\n");
}

int main(void) {
    /* NULL instead of options means the defaults. */
    double numbers[] = {3.5, -1.0, NAN, 0.0, -0.0};
    check(sortie_sort(SORTIE_DTYPE_F64, numbers, 5, NULL));
    print_doubles("sorted", numbers, 5);

    /* Fields that are not named are 0, which means the default. */
    sortie_options options = {.descending = 1, .threads = 2, .nans = SORTIE_NANS_FIRST};
    check(sortie_sort(SORTIE_DTYPE_F64, numbers, 5, &options));
    print_doubles("descending, two threads, NaNs first", numbers, 5);

    /* A payload is any struct; here it is one byte. */
    uint16_t keys[] = {30, 10, 20};
    char payload[] = {'a', 'b', 'c'};
    check(sortie_sort_pairs(SORTIE_DTYPE_U16, keys, 3, payload, sizeof payload[0], NULL));
    printf("pairs:");
    for (size_t i = 0; i < 3; i++)
        printf(" %d:%c", keys[i], payload[i]);
    printf("\n");

    const uint64_t unsorted[] = {30, 10, 20};
    uint32_t indices[3];
    check(sortie_argsort32(SORTIE_DTYPE_U64, unsorted, 3, indices, NULL));
    printf("indices:");
    for (size_t i = 0; i < 3; i++)
        printf(" %u", (unsigned)indices[i]);
    printf("\n");

    int32_t batch[] = {3, 1, 2, 9, 8, 7};
    check(sortie_sort_segments(SORTIE_DTYPE_I32, batch, 6, 3, NULL));
    print_ints("segments of 3", batch, 6);

    /* Three segments, the second of which is empty. Keys outside of all segments stay where they are. */
    int32_t others[] = {2, 3, 1, 9, 7, 8};
    const size_t offsets[] = {1, 3, 3, 5};
    check(sortie_sort_segments_by_offsets(SORTIE_DTYPE_I32, others, 6, offsets, 3, NULL));
    print_ints("segments by offsets", others, 6);

    /* Strings in the layout of Arrow: all bytes in one array, and where each string begins and ends. */
    const char *bytes = "pearapplefig";
    const int32_t ends[] = {0, 4, 9, 12};
    check(sortie_argsort_strings32(ends, (const uint8_t *)bytes, strlen(bytes), 3, indices, NULL));
    printf("strings:");
    for (size_t i = 0; i < 3; i++) {
        uint32_t string = indices[i];
        printf(" %.*s", (int)(ends[string + 1] - ends[string]), bytes + ends[string]);
    }
    printf("\n");

    /* What is wrong is refused, with a message. */
    if (sortie_sort((sortie_dtype)99, batch, 6, NULL) == SORTIE_STATUS_INVALID)
        printf("refused: %s\n", sortie_last_error());
    return 0;
}
