// Back from frequencies to 8 x 8 tiles in 16-bit integers, 16 tiles to a block, eight numbers to a thread (dct8.cuh).
// After the inverse transform of short integers of dct8x8 of the CUDA SDK: sharing thesis table 3.3 (DCT4, 2176 bytes).
#include "dct8.cuh"

constexpr int WIDTH = 4, HEIGHT = 4, PITCH = WIDTH * N + 2;

__global__ void dctInverseShort(short *out, const short *in, int width)
{
    __shared__ short cell[HEIGHT * N * PITCH];
    transformTiles<WIDTH, HEIGHT, PITCH>(cell, out, in, width, inverse<Fixed>);
}
