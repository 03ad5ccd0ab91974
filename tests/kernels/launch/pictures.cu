// Textures and surfaces: a picture of bytes is read between its texels and written through a surface, and a table is read by number.

extern "C" __global__ void enlarge(cudaTextureObject_t picture, cudaSurfaceObject_t result) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    // A third of the result lies outside of it: the surface ignores these writes.
    float value = tex2D<float>(picture, (x + 0.5f) / 3, (y + 0.5f) / 3);
    surf2Dwrite(value, result, x * (int)sizeof value, y, cudaBoundaryModeZero);
}

extern "C" __global__ void look_up(cudaTextureObject_t table, const int *keys, int4 *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        short4 value = tex1Dfetch<short4>(table, keys[i]);
        found[i] = make_int4(value.x, value.y, value.z, value.w);
    }
}
