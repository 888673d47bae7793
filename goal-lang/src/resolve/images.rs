//! The memory images of all ranks.

use std::collections::HashMap;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::group::Group;
use super::resolver::Resolver;
use crate::diag::{Code, Diagnostic};
use crate::ids::ImageId;
use crate::parse::{Block, Declared};
use crate::program::MemoryImage;

/// The distinct images, and the image of each rank.
pub(super) struct Images {
    pub(super) ranks: Vec<Option<ImageId>>,
    pub(super) images: Vec<MemoryImage>,
}

/// Collects the `init` and `expect` data of every rank. Ranks with the same content share an image.
pub(super) fn build(resolver: &mut Resolver, blocks: &[Block], group: &Group) -> Option<Images> {
    let mut ranks = vec![None; group.num_ranks as usize];
    if blocks.iter().all(|block| block.data.is_empty()) {
        return Some(Images { ranks, images: Vec::new() });
    }
    let mut of_list: HashMap<Vec<u32>, ImageId, FxBuildHasher> = FxHashMap::default();
    let mut of_content: HashMap<MemoryImage, ImageId, FxBuildHasher> = FxHashMap::default();
    let mut images = Vec::new();
    let mut list = Vec::new();
    for rank in 0..group.num_ranks {
        list.clear();
        list.extend(group.blocks_of(rank).filter(|&block| !blocks[block as usize].data.is_empty()));
        if list.is_empty() {
            continue;
        }
        let id = match of_list.get(&list) {
            Some(&id) => id,
            None => {
                let data = || list.iter().flat_map(|&block| &blocks[block as usize].data);
                resolver.count(
                    data().map(|declared| 1 + declared.datum.bytes.len() as u64 / 8).sum(),
                )?;
                resolver.check_overlap(data().filter(|declared| !declared.expect));
                resolver.check_overlap(data().filter(|declared| declared.expect));
                let image = image(data());
                let id = *of_content.entry(image).or_insert_with_key(|image| {
                    images.push(image.clone());
                    ImageId::new(images.len() - 1)
                });
                of_list.insert(list.clone(), id);
                id
            }
        };
        ranks[rank as usize] = Some(id);
    }
    Some(Images { ranks, images })
}

fn image<'a>(data: impl Iterator<Item = &'a Declared>) -> MemoryImage {
    let mut image = MemoryImage::default();
    for declared in data {
        let list = if declared.expect { &mut image.expect } else { &mut image.init };
        list.push(declared.datum.clone());
    }
    image
}

impl Resolver<'_> {
    fn check_overlap<'a>(&mut self, data: impl Iterator<Item = &'a Declared>) {
        let mut data: Vec<&Declared> = data.collect();
        data.sort_by_key(|declared| (declared.datum.addr, declared.place));
        let mut reached: Option<(&Declared, u64)> = None;
        for declared in data {
            let end = declared.datum.addr + declared.datum.bytes.len() as u64;
            if let Some((before, before_end)) = reached {
                if declared.datum.addr < before_end {
                    self.overlapping(before, declared);
                }
                if end <= before_end {
                    continue;
                }
            }
            reached = Some((declared, end));
        }
    }

    fn overlapping(&mut self, a: &Declared, b: &Declared) {
        let (first, second) = if a.place <= b.place { (a, b) } else { (b, a) };
        self.report_once(Code::OverlappingInit, second.place.start, || {
            let word = if second.expect { "expect" } else { "init" };
            let bytes = |d: &Declared| {
                format!(
                    "bytes {} to {}",
                    d.datum.addr,
                    d.datum.addr + d.datum.bytes.len() as u64 - 1
                )
            };
            Diagnostic::new(
                Code::OverlappingInit,
                format!("two `{word}`s of a rank name the same bytes"),
            )
            .label(second.place, bytes(second))
            .label(first.place, bytes(first))
            .note("all blocks of a rank count together")
            .help("give each byte one value")
        });
    }
}
