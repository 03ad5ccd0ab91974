// Particles fall, bounce off a floor and slow down: everything that the step needs comes in one struct by value, with pointers, a nested struct and
// arrays in it, one of them of 16 bytes alignment. Not after a paper: struct arguments as CUDA's programs pass them.
struct Field {
    float gravity;
    double unused;                  // 8 bytes alignment in the middle
    unsigned char bounces[3];       // of the three kinds of particle
};

struct Step {
    short kinds;
    float *height;
    float *speed;
    const unsigned char *kind;
    Field field;
    float4 limits;                  // floor, ceiling, greatest speed, time
    int count;
};

__global__ void fall(Step step, unsigned *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= step.count)
        return;
    float speed = step.speed[i] - step.field.gravity * step.limits.w;
    speed = fmaxf(fminf(speed, step.limits.z), -step.limits.z);
    float height = fminf(step.height[i] + speed * step.limits.w, step.limits.y);
    if (height < step.limits.x) {
        height = step.limits.x;
        if (step.field.bounces[step.kind[i] % step.kinds])
            speed = -speed;
        atomicAdd(hits, 1u);
    }
    step.height[i] = height;
    step.speed[i] = speed;
}
