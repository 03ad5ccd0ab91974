//! A volume seen by rays. All of it is in single precision with the kernel's fused operations: rounding decides between which
//! 256ths of a texel a fetch is, where a ray ends, and what byte a colour becomes.

use crate::{Case, Output};

/// A ray with more opacity ends.
const OPAQUE: f32 = 0.95;
const MOST_STEPS: usize = 500;

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (width, height) = (case.size(0, 3), case.size(0, 4));
    let scene = Scene::new(case);
    let mut picture = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let place = |at: usize, n: usize| (at as f32 + 0.5).mul_add(2.0 / n as f32, -1.0);
            picture.push(scene.colour(place(x, width), place(y, height)).map_or(0, u32::from_le_bytes));
        }
    }
    vec![Output::u32("picture", &picture)]
}

struct Scene {
    /// Rows of three axes and a place.
    camera: Vec<f32>,
    voxels: Vec<f32>,
    /// Of the volume.
    size: [usize; 3],
    colours: Vec<f32>,
    step: f32,
    density: f32,
    brightness: f32,
    transfer_offset: f32,
    transfer_scale: f32,
}

impl Scene {
    fn new(case: &Case) -> Self {
        let f32 = |n| case.f32(0, n);
        let size = case.texture_size("volume");
        Self {
            camera: case.symbol_f32s("camera"),
            voxels: case.u8s("voxels").into_iter().map(|voxel| f32::from(voxel) / 255.0).collect(),
            size,
            colours: case.f32s("colours"),
            step: f32(5),
            density: f32(6),
            brightness: f32(7),
            transfer_offset: f32(8),
            transfer_scale: f32(9),
        }
    }

    /// Bytes of the pixel there; none if its ray misses the cube.
    fn colour(&self, u: f32, v: f32) -> Option<[u8; 4]> {
        let scale = 1.0 / u.mul_add(u, v.mul_add(v, 4.0)).sqrt();
        let [right, up, ahead] = [u * scale, v * scale, -2.0 * scale];
        let rows: Vec<&[f32]> = self.camera.chunks(4).collect();
        let from = [0, 1, 2].map(|n| rows[n][3]);
        let way = [0, 1, 2].map(|n| rows[n][0].mul_add(right, rows[n][1].mul_add(up, rows[n][2] * ahead)));

        let sides = [0, 1, 2].map(|n| [(-1.0 - from[n]) / way[n], (1.0 - from[n]) / way[n]]);
        let enters = sides.iter().map(|[a, b]| a.min(*b)).fold(0.0, f32::max);
        let leaves = sides.iter().map(|[a, b]| a.max(*b)).fold(f32::INFINITY, f32::min);
        if enters >= leaves {
            return None;
        }

        let mut place = [0, 1, 2].map(|n| way[n].mul_add(enters, from[n]));
        let steps = way.map(|way| way * self.step);
        let (mut sums, mut opacity, mut at) = ([0.0f32; 3], 0.0, enters);
        for _ in 0..MOST_STEPS {
            let sample = self.sample(place.map(|at| at.mul_add(0.5, 0.5)));
            let [red, green, blue, own] = self.transfer((sample - self.transfer_offset) * self.transfer_scale);
            let part = own * self.density * (1.0 - opacity);
            for (sum, channel) in sums.iter_mut().zip([red, green, blue]) {
                *sum = channel.mul_add(part, *sum);
            }
            opacity += part;
            at += self.step;
            if opacity > OPAQUE || at > leaves {
                break;
            }
            for (place, step) in place.iter_mut().zip(steps) {
                *place += step;
            }
        }
        let [red, green, blue] = sums;
        Some([red, green, blue, opacity].map(|value| ((value * self.brightness).clamp(0.0, 1.0) * 255.0) as u8))
    }

    /// The volume between its voxels.
    fn sample(&self, place: [f32; 3]) -> f32 {
        let [width, height, _] = self.size;
        let [x, y, z] = [0, 1, 2].map(|n| Texels::around(place[n], self.size[n]));
        let mut sum = 0.0f32;
        for (k, far) in z.both() {
            for (j, below) in y.both() {
                for (i, right) in x.both() {
                    sum = (right * below * far).mul_add(self.voxels[(k * height + j) * width + i], sum);
                }
            }
        }
        sum
    }

    /// Colour and opacity of a value.
    fn transfer(&self, value: f32) -> [f32; 4] {
        let texels = Texels::around(value, self.colours.len() / 4);
        let channel =
            |n| texels.both().iter().fold(0.0f32, |sum, (i, weight)| weight.mul_add(self.colours[4 * i + n], sum));
        [0, 1, 2, 3].map(channel)
    }
}

/// Two neighbours in one dimension, and the weight of the second.
struct Texels {
    first: usize,
    second: usize,
    weight: f32,
}

impl Texels {
    /// `docs/textures.md`, "A fetch": normalised coordinate, linear filter, clamp.
    fn around(place: f32, n: usize) -> Self {
        let at = (place * n as f32).clamp(-2.0, n as f32 + 2.0) - 0.5;
        let inside = |i: f32| (i.max(0.0) as usize).min(n - 1);
        let weight = ((at - at.floor()) * 256.0 + 0.5).floor() / 256.0;
        Self { first: inside(at.floor()), second: inside(at.floor() + 1.0), weight }
    }

    fn both(&self) -> [(usize, f32); 2] {
        [(self.first, 1.0 - self.weight), (self.second, self.weight)]
    }
}
