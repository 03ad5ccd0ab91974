//! Plots as inline SVG.

use maud::{Markup, html};
use serde::Serialize;

/// How values are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// One line for each series.
    Lines,
    /// Bars beside each other.
    Bars,
    /// Bars on top of each other.
    Stacked,
}

/// Values of one kind, one for each place on the x axis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Series {
    /// Name of the series.
    pub name: String,
    /// The values.
    pub values: Vec<f64>,
}

/// A plot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// Name of the x axis.
    pub x: String,
    /// Name of the y axis.
    pub y: String,
    /// Names of the places on the x axis.
    pub places: Vec<String>,
    /// The series.
    pub series: Vec<Series>,
    /// How the values are drawn.
    #[serde(skip)]
    pub style: Style,
    /// The paper's band, drawn behind the values.
    #[serde(skip)]
    pub band: Option<[f64; 2]>,
}

const WIDTH: f64 = 640.0;
/// Height of the plot area.
const PLOT: f64 = 210.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 12.0;
/// Height below the plot area for horizontal names of places, and for the name of the axis.
const SHORT_BOTTOM: f64 = 22.0;
const AXIS: f64 = 16.0;
/// Average width of a letter.
const LETTER: f64 = 6.4;
/// The page's colours, as CSS variables.
const COLOURS: [&str; 6] = ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)"];

impl Plot {
    /// Renders the plot as an SVG element.
    pub fn svg(&self) -> Markup {
        let frame = Frame { count: self.places.len().max(1) as f64, range: self.range(), height: PLOT };
        let longest = self.places.iter().map(|place| place.chars().count()).max().unwrap_or(0) as f64 * LETTER;
        let is_number = |place: &String| place.parse::<f64>().is_ok();
        // Names that do not fit beside each other are drawn at an angle; numbers that do not fit are drawn only in part.
        let on_end = longest > frame.step() - 4.0 && !self.places.iter().all(is_number);
        let names = if on_end { 0.87 * longest + 16.0 } else { SHORT_BOTTOM };
        let height = TOP + PLOT + names + if self.x.is_empty() { 0.0 } else { AXIS };
        let every = (1..).find(|every| f64::from(*every) * frame.step() >= longest + 4.0).unwrap_or(1) as usize;
        let values = match self.style {
            Style::Lines => self.lines(&frame),
            Style::Bars => self.bars(&frame),
            Style::Stacked => self.stacked(&frame),
        };
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label=(self.title) {
                (self.axes(&frame, height))
                (self.names(&frame, on_end, if on_end { 1 } else { every }))
                (values)
            }
        }
    }

    /// The names of the series in their colours.
    pub fn legend(&self) -> Markup {
        html! {
            @for (series, colour) in self.coloured() {
                span { i style={ "background:" (colour) } {} (series.name) }
            }
            @if self.band.is_some() { span { i.band {} "the paper" } }
        }
    }

    fn coloured(&self) -> impl Iterator<Item = (&Series, &'static str)> {
        self.series.iter().zip(COLOURS.into_iter().cycle())
    }

    /// The range of the y axis: from the least value, or 0 if that is less, to the greatest; both are rounded outwards to a grid line.
    fn range(&self) -> [f64; 2] {
        let finite = |values: Vec<f64>| values.into_iter().filter(|v| v.is_finite()).collect::<Vec<_>>();
        let mut values: Vec<f64> = match self.style {
            Style::Stacked => {
                let sum = |place| self.series.iter().filter_map(|s| s.values.get(place)).sum();
                finite((0..self.places.len()).map(sum).collect())
            }
            Style::Lines | Style::Bars => finite(self.series.iter().flat_map(|s| s.values.clone()).collect()),
        };
        values.extend(self.band.into_iter().flatten());
        let high = values.iter().copied().fold(0.0, f64::max);
        let low = values.iter().copied().fold(0.0, f64::min);
        let step = step(high - low);
        [(low / step).floor() * step, ((high / step - 1e-9).ceil() * step).max(step)]
    }

    fn axes(&self, frame: &Frame, height: f64) -> Markup {
        let [low, high] = frame.range;
        let step = step(high - low);
        let digits = if step < 0.1 { 2 } else { usize::from(step < 1.0) };
        let ticks = ((high - low) / step).round() as i64;
        let (right, width) = (WIDTH - RIGHT, WIDTH - LEFT - RIGHT);
        let middle = TOP + frame.height / 2.0;
        // An element of SVG without contents needs an end tag.
        html! {
            @if let Some([low, high]) = self.band {
                @let (top, bottom) = (frame.y(high), frame.y(low));
                @let height = tenths((bottom - top).max(1.5));
                rect.band x=(LEFT) y=(tenths(top)) width=(width) height=(height) {}
            }
            @for tick in 0..=ticks {
                @let value = low + tick as f64 * step;
                @let y = frame.y(value);
                line.grid x1=(LEFT) x2=(right) y1=(tenths(y)) y2=(tenths(y)) {}
                text.end x=(LEFT - 6.0) y=(tenths(y + 4.0)) { (format!("{value:.digits$}")) }
            }
            text.middle transform=(format!("rotate(-90 12 {middle})")) x="12" y=(middle) { (self.y) }
            text.middle x=(LEFT + width / 2.0) y=(height - 4.0) { (self.x) }
        }
    }

    /// Draws the names of every `every`-th place.
    fn names(&self, frame: &Frame, on_end: bool, every: usize) -> Markup {
        html! {
            @for (index, place) in self.places.iter().enumerate().step_by(every) {
                @let (x, y) = (frame.x(index), TOP + frame.height);
                @if on_end {
                    @let (x, y) = (tenths(x + 4.0), tenths(y + 8.0));
                    text.end transform={ "rotate(-60 " (x) " " (y) ")" } x=(x) y=(y) { (place) }
                } @else {
                    text.middle x=(tenths(x)) y=(tenths(y + 16.0)) { (place) }
                }
            }
        }
    }

    fn lines(&self, frame: &Frame) -> Markup {
        html! {
            @for (series, colour) in self.coloured() {
                @let points = series.values.iter().enumerate().filter(|(_, value)| value.is_finite());
                @let points = points.map(|(index, &value)| (index, tenths(frame.x(index)), tenths(frame.y(value))));
                @let points = points.collect::<Vec<_>>();
                polyline style={ "stroke:" (colour) } points={ @for (_, x, y) in &points { (x) "," (y) " " } } {}
                @for (index, x, y) in &points {
                    circle style={ "fill:" (colour) } cx=(x) cy=(y) r="3" { (self.title_of(series, *index)) }
                }
            }
        }
    }

    fn bars(&self, frame: &Frame) -> Markup {
        let width = 0.8 * frame.step() / self.series.len().max(1) as f64;
        html! {
            @for (number, (series, colour)) in self.coloured().enumerate() {
                @for (index, &value) in series.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                    @let x = frame.x(index) - 0.4 * frame.step() + number as f64 * width;
                    (self.bar(frame, [x, width], [0.0, value], colour, self.title_of(series, index)))
                }
            }
        }
    }

    fn stacked(&self, frame: &Frame) -> Markup {
        let width = 0.7 * frame.step();
        let stack = |index: usize| {
            let mut low = 0.0;
            self.coloured().map(move |(series, colour)| {
                let value = series.values.get(index).copied().filter(|v| v.is_finite()).unwrap_or(0.0);
                let ends = [low, low + value];
                low += value;
                self.bar(frame, [frame.x(index) - width / 2.0, width], ends, colour, self.title_of(series, index))
            })
        };
        html! { @for bar in (0..self.places.len()).flat_map(stack) { (bar) } }
    }

    fn bar(&self, frame: &Frame, [x, width]: [f64; 2], ends: [f64; 2], colour: &str, title: Markup) -> Markup {
        let [a, b] = ends.map(|value| frame.y(value));
        let (y, height) = (tenths(a.min(b)), tenths((a - b).abs()));
        html! {
            rect style={ "fill:" (colour) } x=(tenths(x)) y=(y) width=(tenths(width)) height=(height) { (title) }
        }
    }

    /// The tooltip of a value.
    fn title_of(&self, series: &Series, index: usize) -> Markup {
        let place = self.places.get(index).map_or("", String::as_str);
        html! { title { (place) ", " (series.name) ": " (format!("{:.3}", series.values[index])) } }
    }
}

/// Converts places and values to coordinates.
struct Frame {
    count: f64,
    range: [f64; 2],
    height: f64,
}

impl Frame {
    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.count
    }

    fn x(&self, index: usize) -> f64 {
        LEFT + (index as f64 + 0.5) * self.step()
    }

    fn y(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        TOP + self.height * (1.0 - (value - low) / (high - low))
    }
}

/// A round distance between grid lines, for about six of them.
fn step(range: f64) -> f64 {
    let rough = if range > 0.0 { range / 6.0 } else { 0.2 };
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

/// Formats a coordinate; a tenth of a pixel is exact enough.
pub(crate) fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(style: Style, values: &[f64]) -> Plot {
        Plot {
            title: "a < b".into(),
            x: "entries".into(),
            y: "part".into(),
            places: (1..=values.len()).map(|n| n.to_string()).collect(),
            series: vec![Series { name: "reads".into(), values: values.to_vec() }],
            style,
            band: Some([0.4, 0.6]),
        }
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(step(1.0), 0.2);
        assert_eq!(step(0.6), 0.1);
        assert_eq!(step(13.0), 5.0);
        assert_eq!(step(0.0), step(f64::NAN));
    }

    #[test]
    fn every_value_is_drawn_and_text_is_escaped() {
        for style in [Style::Lines, Style::Bars, Style::Stacked] {
            let svg = plot(style, &[0.2, 0.5, 0.7]).svg().into_string();
            assert_eq!(svg.matches("<title>").count(), 3, "{style:?}");
            assert!(svg.contains("a &lt; b") && svg.contains("2, reads: 0.500"));
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
        }
    }

    #[test]
    fn names_are_whole_and_do_not_overlap() {
        let named = |places: Vec<String>| {
            let series = vec![Series { name: "reads".into(), values: vec![0.5; places.len()] }];
            Plot { places, series, ..plot(Style::Bars, &[]) }.svg().into_string()
        };
        let height =
            |svg: &str| svg.split_whitespace().nth(4).unwrap().trim_matches(['"', '>']).parse::<f64>().unwrap();
        let kernels =
            |letters: usize| (0..20).map(|n| format!("{n:02}{}", "k".repeat(letters))).collect::<Vec<String>>();
        let (short, long) = (named(kernels(8)), named(kernels(28)));
        assert!(short.contains("rotate(-60") && height(&long) > height(&short) + 100.0, "{}", height(&long));
        // Every second of 65 numbers is drawn, or fewer; of 10, all are.
        let numbers = |count: usize| named((0..count).map(|n| n.to_string()).collect());
        assert!(numbers(65).matches("class=\"middle\"").count() < 50);
        assert!(numbers(10).matches("class=\"middle\"").count() == 12);
    }

    #[test]
    fn strange_values_are_no_reason_to_stop() {
        for values in [&[][..], &[0.0], &[-0.5, 0.2], &[f64::NAN, 1.0], &[f64::INFINITY]] {
            for style in [Style::Lines, Style::Bars, Style::Stacked] {
                let svg = plot(style, values).svg().into_string();
                assert!(!svg.contains("NaN\"") && !svg.contains("inf\""), "{values:?}");
            }
        }
    }
}
