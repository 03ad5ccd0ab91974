//! Which pairs of levels a result may be written to (thesis 6.5.5, figure 6.18).

use super::Encoding;
use super::savings::Above;

impl Encoding {
    /// Whether a result may go to the MRF and to this level.
    pub(super) fn allows_both(self, above: Above) -> bool {
        match self {
            Self::Free => true,
            Self::SingleLevel => false,
            Self::LrfMrfOnly => above == Above::Lrf,
        }
    }
}
