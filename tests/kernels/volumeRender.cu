// A picture of a volume of bytes: each thread follows the ray through its pixel from the front of a cube to its back. At each step
// it fetches the volume between its voxels (eight of them), looks up colour and opacity of this value in a table of float4, and adds
// the colour behind what it has gathered. Rays that miss the cube do nothing, and a ray ends early when it is opaque, so that threads
// of a warp leave the loop one by one. The camera is in constant memory.
// After volumeRender of the CUDA SDK: hierarchy thesis table 4.2.
typedef unsigned int uint;

// A ray that lets less than one twentieth pass is opaque.
constexpr float OPAQUE = 0.95f;
constexpr int MOST_STEPS = 500;

// Rows of the camera's matrix: three axes, and where it stands.
__constant__ float4 camera[3];

__device__ inline float along(float4 row, float x, float y, float z)
{
    return fmaf(row.x, x, fmaf(row.y, y, row.z * z));
}

__device__ inline uint shade(float value, float brightness)
{
    return (uint)(__saturatef(value * brightness) * 255.0f);
}

__global__ void render(uint *out, cudaTextureObject_t volume, cudaTextureObject_t transfer, int width, int height, float step,
                       float density, float brightness, float transferOffset, float transferScale)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;

    // The ray, from where the camera stands through the pixel of a picture in front of it.
    float u = fmaf((float)column + 0.5f, 2.0f / (float)width, -1.0f), v = fmaf((float)row + 0.5f, 2.0f / (float)height, -1.0f);
    float scale = 1.0f / sqrtf(fmaf(u, u, fmaf(v, v, 4.0f)));
    float right = u * scale, up = v * scale, ahead = -2.0f * scale;
    float3 from = make_float3(camera[0].w, camera[1].w, camera[2].w);
    float3 way = make_float3(along(camera[0], right, up, ahead), along(camera[1], right, up, ahead), along(camera[2], right, up, ahead));

    // Where it enters and leaves the cube from -1 to 1.
    float x0 = (-1.0f - from.x) / way.x, x1 = (1.0f - from.x) / way.x;
    float y0 = (-1.0f - from.y) / way.y, y1 = (1.0f - from.y) / way.y;
    float z0 = (-1.0f - from.z) / way.z, z1 = (1.0f - from.z) / way.z;
    float enters = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    float leaves = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fmaxf(z0, z1));
    if (enters >= leaves)
        return;

    float x = fmaf(way.x, enters, from.x), y = fmaf(way.y, enters, from.y), z = fmaf(way.z, enters, from.z);
    float stepX = way.x * step, stepY = way.y * step, stepZ = way.z * step;
    float red = 0.0f, green = 0.0f, blue = 0.0f, opacity = 0.0f;
    float at = enters;
    for (int i = 0; i < MOST_STEPS; ++i) {
        float sample = tex3D<float>(volume, fmaf(x, 0.5f, 0.5f), fmaf(y, 0.5f, 0.5f), fmaf(z, 0.5f, 0.5f));
        float4 colour = tex1D<float4>(transfer, (sample - transferOffset) * transferScale);
        // What is in front hides a part of it.
        float part = colour.w * density * (1.0f - opacity);
        red = fmaf(colour.x, part, red);
        green = fmaf(colour.y, part, green);
        blue = fmaf(colour.z, part, blue);
        opacity += part;
        if (opacity > OPAQUE)
            break;
        at += step;
        if (at > leaves)
            break;
        x += stepX;
        y += stepY;
        z += stepZ;
    }
    out[row * width + column] = shade(red, brightness) | (shade(green, brightness) << 8) | (shade(blue, brightness) << 16) |
                                (shade(opacity, brightness) << 24);
}
