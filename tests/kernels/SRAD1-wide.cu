// SRAD1 with the shared memory of sharing thesis table 3.3: 13824 bytes, tiles of 24 x 24 pixels.
#define SIZE 24
#include "SRAD1.cu"
