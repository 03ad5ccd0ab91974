//! All levels of sources and of results.

use crate::{LrfBank, OrfEntry, ResultLevel, SourceLevel, Upper};

pub fn source_levels() -> Vec<SourceLevel> {
    let mut levels = vec![SourceLevel::Mrf];
    levels.extend(uppers().into_iter().map(SourceLevel::Upper));
    levels.extend((0..8).filter_map(OrfEntry::new).map(SourceLevel::MrfCopied));
    levels
}

pub fn result_levels() -> Vec<ResultLevel> {
    let mut levels = vec![ResultLevel::Mrf];
    levels.extend(uppers().into_iter().map(ResultLevel::Upper));
    levels.extend(uppers().into_iter().map(ResultLevel::Both));
    levels
}

fn uppers() -> Vec<Upper> {
    let orf = (0..8).filter_map(OrfEntry::new).map(Upper::Orf);
    orf.chain((0..3).filter_map(LrfBank::new).map(Upper::Lrf)).collect()
}
