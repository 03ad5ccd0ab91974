// A picture of bytes, moved and scaled with cubic B-splines: each pixel of the result is a sum over 4 x 4 pixels around its place
// in the picture, whose edge is repeated. All its loads of bytes may be in flight at once.
// After bicubicTexture of the CUDA SDK, with loads from global memory in the place of texture reads: hierarchy thesis tables 4.2 and
// 4.3.
typedef unsigned char uchar;

// The weights of four neighbours, by the place between the middle two.
__device__ inline float4 weights(float t)
{
    float rest = 1.0f - t;
    return make_float4(rest * rest * rest * (1.0f / 6.0f), (t * t * (3.0f * t - 6.0f) + 4.0f) * (1.0f / 6.0f),
                       (rest * rest * (3.0f * rest - 6.0f) + 4.0f) * (1.0f / 6.0f), t * t * t * (1.0f / 6.0f));
}

__device__ inline float sum(float4 weight, float a, float b, float c, float d)
{
    return weight.x * a + weight.y * b + weight.z * c + weight.w * d;
}

__global__ void bicubic(float *out, const uchar *__restrict__ picture, int outWidth, int outHeight, int width, int height, float left,
                        float top, float scale)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= outWidth || y >= outHeight)
        return;

    float u = left + scale * (float)x, v = top + scale * (float)y;
    float column = floorf(u), row = floorf(v);
    float4 across = weights(u - column), down = weights(v - row);

    float pixel[4][4];
    for (int j = 0; j < 4; ++j) {
        int from = min(max((int)row - 1 + j, 0), height - 1) * width;
        for (int i = 0; i < 4; ++i)
            pixel[j][i] = (float)picture[from + min(max((int)column - 1 + i, 0), width - 1)];
    }
    float line[4];
    for (int j = 0; j < 4; ++j)
        line[j] = sum(across, pixel[j][0], pixel[j][1], pixel[j][2], pixel[j][3]);
    out[y * outWidth + x] = sum(down, line[0], line[1], line[2], line[3]);
}
