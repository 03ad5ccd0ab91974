// Back from frequencies to 8 x 8 tiles in single precision, eight tiles to a block, eight numbers to a thread (dct8.cuh).
// After the second inverse transform of dct8x8 of the CUDA SDK: sharing thesis table 3.3 (DCT2, 2112 bytes).
#include "dct8.cuh"

constexpr int WIDTH = 4, HEIGHT = 2, PITCH = WIDTH * N + 1;

__global__ void dctInverse(float *out, const float *in, int width)
{
    __shared__ float cell[HEIGHT * N * PITCH];
    transformTiles<WIDTH, HEIGHT, PITCH>(cell, out, in, width, inverse<Real>);
}
