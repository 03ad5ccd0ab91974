//! Triangles of the cubes of a field, and the table that says which edges of a cube they join.

use crate::{Case, Output};

const EDGES: usize = 12;
/// Maximum number of corners of a cube's triangles, three each; a row of the table has one more entry, for its end.
const MOST_CORNERS: usize = 15;

/// The two corners of an edge. Bits 0, 1 and 2 of a corner's number are its x, y and z.
fn corners_of(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let from = ((edge & 1) << ((axis + 1) % 3)) | ((edge >> 1 & 1) << ((axis + 2) % 3));
    [from, from | 1 << axis]
}

/// Corners of the six faces, going round in one direction as seen from outside.
fn faces() -> [[usize; 4]; 6] {
    std::array::from_fn(|face| {
        let (axis, far) = (face / 2, face % 2);
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        let side = far << axis;
        let round = [side, side | u, side | u | v, side | v];
        if far == 1 { round } else { [round[3], round[2], round[1], round[0]] }
    })
}

/// Edges of the triangles of a cube whose corners with these bits lie inside. Around each face, the surface connects the edge where a walk enters the
/// inside with the next edge where it leaves, so that the surfaces of neighbouring cubes fit together.
fn triangles(inside: usize) -> Vec<usize> {
    let is_inside = |corner: usize| inside >> corner & 1 == 1;
    let edge_of = |a: usize, b: usize| {
        (0..EDGES).find(|&edge| corners_of(edge) == [a.min(b), a.max(b)]).expect("neighbours on a face have an edge")
    };
    let mut next = [None; EDGES];
    for face in faces() {
        for first in 0..4 {
            let at = |step: usize| face[(first + step) % 4];
            if !is_inside(at(0)) && is_inside(at(1)) {
                let leaves = (1..4).find(|&step| !is_inside(at(step + 1))).expect("the first lies outside");
                next[edge_of(at(0), at(1))] = Some(edge_of(at(leaves), at(leaves + 1)));
            }
        }
    }
    let mut edges = Vec::new();
    for first in 0..EDGES {
        let mut polygon = vec![first];
        while let Some(edge) = polygon.last().and_then(|&last| next[last].take()) {
            polygon.push(edge);
        }
        // The last edge is the first one again.
        for i in 1..polygon.len().saturating_sub(2) {
            edges.extend([polygon[0], polygon[i], polygon[i + 1]]);
        }
    }
    edges
}

/// The table as the kernel reads it: a row for each set of corners that lie inside.
pub fn table() -> Vec<i8> {
    let row = |inside| {
        let mut row = [-1; MOST_CORNERS + 1];
        let edges = triangles(inside);
        assert!(edges.len() <= MOST_CORNERS, "triangles of {inside:08b}");
        row.iter_mut().zip(edges).for_each(|(entry, edge)| *entry = edge as i8);
        row
    };
    (0..256).flat_map(row).collect()
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (nx, ny, level) = (case.size(0, 7), case.size(0, 8), case.f64(0, 9));
    let field = case.f64s("field");
    let active = case.s32s("active");
    let cubes = active.len();
    let mut position = vec![0.0; case.len("position")];
    let mut normal = vec![0.0; case.len("normal")];
    let mut corners = Vec::new();
    for (number, cube) in active.into_iter().enumerate() {
        let cube = cube as usize;
        let place =
            |corner: usize| [cube % nx + corner % 2, cube / nx % ny + corner / 2 % 2, cube / nx / ny + corner / 4];
        let sample = |corner: usize| {
            let [x, y, z] = place(corner);
            let i = 4 * ((z * (ny + 1) + y) * (nx + 1) + x);
            &field[i..i + 4]
        };
        let inside = (0..8).filter(|&corner| sample(corner)[3] < level).map(|corner| 1 << corner).sum();
        let edges = triangles(inside);
        for (i, &edge) in edges.iter().enumerate() {
            let [from, to] = corners_of(edge);
            let (a, b) = (sample(from), sample(to));
            let t = (level - a[3]) / (b[3] - a[3]);
            for axis in 0..3 {
                let at = (i * cubes + number) * 3 + axis;
                let [from, to] = [from, to].map(|corner| place(corner)[axis] as f64);
                position[at] = from + t * (to - from);
                normal[at] = a[axis] + t * (b[axis] - a[axis]);
            }
        }
        corners.push(edges.len() as i32);
    }
    vec![Output::f64("position", &position), Output::f64("normal", &normal), Output::s32("corners", &corners)]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::{EDGES, corners_of, table, triangles};
    use crate::folder;

    #[test]
    fn the_table_of_the_kernel_is_what_is_computed() {
        let bytes = fs::read(folder().join("inputs/marchingCubes.table.bin")).expect("it is there");
        assert_eq!(bytes, table().into_iter().map(|edge| edge as u8).collect::<Vec<_>>());
    }

    /// Triangles have a point on every edge whose ends lie on different sides, and on no other; they are closed but for the cube's
    /// faces: inside the cube each side of a triangle has a neighbour that goes the other way.
    #[test]
    fn triangles_are_a_surface() {
        let on_a_face = |a: usize, b: usize| {
            let [all, any] =
                [corners_of(a), corners_of(b)].iter().flatten().fold([7, 0], |[all, any], c| [all & c, any | c]);
            all != 0 || any != 7
        };
        for inside in 0..256 {
            let edges = triangles(inside);
            for edge in 0..EDGES {
                let crossed = corners_of(edge).map(|corner| inside >> corner & 1);
                assert_eq!(edges.contains(&edge), crossed[0] != crossed[1], "{inside:08b} {edge}");
            }
            let mut sides = BTreeMap::new();
            for triangle in edges.chunks(3) {
                for i in 0..3 {
                    *sides.entry((triangle[i], triangle[(i + 1) % 3])).or_insert(0) += 1;
                }
            }
            for (&(a, b), &count) in &sides {
                assert_eq!(count, 1, "{inside:08b}");
                assert!(sides.contains_key(&(b, a)) || on_a_face(a, b), "{inside:08b} {a} {b}");
            }
        }
    }
}
