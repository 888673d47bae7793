//! From blocks to a program: finds the ranks, the blocks of each rank, and the labels that several
//! blocks share.

mod check;
mod cycle;
mod group;
mod images;
mod labels;
mod merge;
mod plan;
mod relative;
mod resolver;

pub use check::unexpanded;

use std::collections::HashMap;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::diag::Report;
use crate::ids::BodyId;
use crate::parse::{Block, Chunk, ParseOptions};
use crate::program::{Body, Program, RankEntry};
use crate::source::SourceMap;
use group::Group;
use plan::{Plan, Recipe};
pub(crate) use relative::symmetric;
use resolver::Resolver;

/// Makes a program of the blocks. The program is valid only if the report has no error. Returns
/// `None` if the text does not determine a group of ranks.
pub(crate) fn assemble(
    sources: &SourceMap,
    chunks: Vec<Chunk>,
    options: &ParseOptions,
    report: &mut Report,
) -> Option<Program> {
    let (mut blocks, group) = group::gather(sources, chunks, options, report)?;
    check::peers(sources, &mut blocks, &group, report);
    relative::check(sources, &blocks, &group, report);
    if !options.collectives {
        check::collectives(sources, &blocks, report);
    }
    let mut resolver = Resolver::new(sources, report);
    let mut plan = resolver.plan(&blocks, &group)?;
    let images = images::build(&mut resolver, &blocks, &group)?;
    let relatives = relative::by_body(&blocks, &plan.recipes);
    let mut bodies = resolver.bodies(&mut blocks, &plan.recipes, options)?;
    resolver.expand(&mut plan, &mut bodies, &relatives)?;
    let ranks = plan
        .ranks
        .iter()
        .zip(images.ranks)
        .map(|(&body, image)| RankEntry { body, image })
        .collect();
    Some(Program { ranks, bodies, images: images.images })
}

impl Resolver<'_> {
    /// Assigns a body to each rank. Ranks with the same blocks share a body. Blocks that add
    /// nothing to a graph are ignored.
    fn plan(&mut self, blocks: &[Block], group: &Group) -> Option<Plan> {
        let mut ranks = Vec::with_capacity(group.num_ranks as usize);
        let mut recipes = Vec::new();
        let mut of_block: Vec<Option<BodyId>> = vec![None; blocks.len()];
        let mut of_list: HashMap<Vec<u32>, BodyId, FxBuildHasher> = FxHashMap::default();
        let mut list = Vec::new();
        for rank in 0..group.num_ranks {
            list.clear();
            list.extend(
                group.blocks_of(rank).filter(|&block| !blocks[block as usize].is_without_graph()),
            );
            if let [block] = list[..] {
                let id = *of_block[block as usize].get_or_insert_with(|| {
                    let own = &blocks[block as usize];
                    recipes.push(if own.pending.is_empty() && !own.has_duplicates {
                        Recipe::Single(block)
                    } else {
                        Recipe::Merged(vec![block])
                    });
                    BodyId::new(recipes.len() - 1)
                });
                ranks.push(id);
                continue;
            }
            let id = match of_list.get(&list) {
                Some(&id) => id,
                None => {
                    let size =
                        |block: &Block| 1 + block.body.len() as u64 + block.num_requires() as u64;
                    self.count(list.iter().map(|&block| size(&blocks[block as usize])).sum())?;
                    let id = BodyId::new(recipes.len());
                    recipes.push(Recipe::Merged(list.clone()));
                    of_list.insert(list.clone(), id);
                    id
                }
            };
            ranks.push(id);
        }
        Some(Plan { ranks, recipes })
    }

    fn bodies(
        &mut self,
        blocks: &mut [Block],
        recipes: &[Recipe],
        options: &ParseOptions,
    ) -> Option<Vec<Body>> {
        // Merged bodies come first: they copy from blocks that single bodies then take over.
        let mut bodies: Vec<Body> = Vec::with_capacity(recipes.len());
        for recipe in recipes {
            bodies.push(match recipe {
                Recipe::Single(_) => Body::default(),
                Recipe::Merged(list) => {
                    let own: Vec<&Block> = list.iter().map(|&at| &blocks[at as usize]).collect();
                    self.merge(&own)
                }
            });
        }
        for (body, recipe) in bodies.iter_mut().zip(recipes) {
            if let &Recipe::Single(block) = recipe {
                let own = &mut blocks[block as usize];
                *body = std::mem::take(&mut own.body);
                let own = &blocks[block as usize];
                self.check_scratch(own, body);
                if own.backward {
                    self.check_cycle(&[own], body);
                }
            }
            if !options.debug {
                body.debug = Default::default();
            }
        }
        Some(bodies)
    }
}
