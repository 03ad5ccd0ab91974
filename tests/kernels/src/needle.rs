//! The scores of all alignments of two sequences (Needleman and Wunsch).

use crate::{Case, Output};

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (columns, penalty) = (case.size(0, 1), case.s32(0, 2));
    let similarity = case.s32s("similarity");
    let mut score = case.s32s("score");
    for i in 0..columns {
        score[i] = -(i as i32) * penalty;
        score[i * columns] = -(i as i32) * penalty;
    }
    for i in columns..columns * columns {
        if i % columns != 0 {
            let matched = score[i - columns - 1] + similarity[i];
            score[i] = matched.max(score[i - 1] - penalty).max(score[i - columns] - penalty);
        }
    }
    vec![Output::s32("score", &score)]
}
