// Half precision: conversions, arithmetic on single values and on pairs, comparisons, and atomic additions of whole numbers, whose order does not matter.
#include <cuda_fp16.h>

__global__ void combine(const __half2 *x, const __half2 *y, __half2 *z, __half a, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    __half2 factor = __half2half2(a);
    __half2 sum = __hfma2(factor, x[i], y[i]);
    __half2 difference = __hsub2(__hmul2(x[i], y[i]), sum);
    z[3 * i] = sum;
    z[3 * i + 1] = __hgt2(sum, difference);
    z[3 * i + 2] = __hadd2(__hneg2(sum), __habs2(difference));
}

__global__ void convert(const float *x, const short *n, __half *halves, float *floats, int *integers, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    __half h = __float2half(x[i]), zero = __float2half_rz(x[i]), number = __short2half_rn(n[i]);
    halves[3 * i] = h;
    halves[3 * i + 1] = zero;
    halves[3 * i + 2] = __hlt(h, number) ? __hadd(h, number) : hfloor(h);
    floats[i] = __half2float(__hmul(h, zero));
    integers[i] = __half2int_rn(h) * 8 + (__heq(h, zero) ? 4 : 0) + (__hisnan(number) ? 2 : 0) + (__hge(zero, h) ? 1 : 0);
}

__global__ void count(const float *x, __half2 *pairs, __half *single, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    atomicAdd(&pairs[i % 3], __floats2half2_rn(truncf(x[i]), 1.0f));
    atomicAdd(&single[i % 5], __float2half(2.0f));
}
