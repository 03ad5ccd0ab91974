//! Points that follow their surroundings from picture to picture.

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (mut x, mut y) = (case.s32s("pointX"), case.s32s("pointY"));
    let mut learnt = vec![0; case.len("learnt")];
    for launch in 0..case.launches() {
        let picture = case.u8s(case.buffer_argument(launch, 3));
        let [width, side, reach, number] = [4, 5, 6, 7].map(|argument| case.s32(launch, argument));
        let smooth = |x: i32, y: i32| -> i32 {
            let near = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| y * width + x));
            near.map(|place| i32::from(picture[place as usize])).sum()
        };
        let template = |x: i32, y: i32| (y..y + side).flat_map(move |y| (x..x + side).map(move |x| (x, y)));
        for (point, mine) in learnt.chunks_mut((side * side) as usize).enumerate() {
            let (x, y) = (&mut x[point], &mut y[point]);
            if number == 0 {
                mine.iter_mut().zip(template(*x, *y)).for_each(|(mine, (x, y))| *mine = smooth(x, y));
                continue;
            }
            let difference = |&(x, y): &(i32, i32)| -> i32 {
                template(x, y).zip(&*mine).map(|((x, y), mine)| (smooth(x, y) - mine).abs()).sum()
            };
            let (left, top) = (*x - reach, *y - reach);
            let places = (top..=*y + reach).flat_map(|y| (left..=left + 2 * reach).map(move |x| (x, y)));
            (*x, *y) = places.min_by_key(difference).expect("the point may stay");
        }
    }
    vec![Output::s32("pointX", &x), Output::s32("pointY", &y), Output::s32("learnt", &learnt)]
}
