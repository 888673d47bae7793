//! The program's own computation: a product of square Float32 matrices in block data layout (thesis
//! 6.6). `benches/c/overlap.c` has the same, so that both sides compute the same bits.

use goal_eth::now_ns;
use std::io;

/// Rows and columns of a block.
pub(crate) const BLOCK: usize = 32;

#[derive(Clone)]
#[repr(align(64))]
struct Block([[f32; BLOCK]; BLOCK]);

/// Matrices and their product.
pub(crate) struct Product {
    /// Blocks in a row of each matrix.
    blocks: usize,
    a: Vec<Block>,
    b: Vec<Block>,
    c: Vec<Block>,
}

impl Product {
    /// Creates matrices with `order` rows, a multiple of [`BLOCK`].
    pub(crate) fn new(order: usize) -> Self {
        let blocks = order / BLOCK;
        let matrix = |modulus: usize| {
            let value =
                |block, row, column| (((block * BLOCK + row) * BLOCK + column) % modulus) as f32;
            let block =
                |at| Block(std::array::from_fn(|i| std::array::from_fn(|j| value(at, i, j))));
            (0..blocks * blocks).map(block).collect::<Vec<_>>()
        };
        Self { blocks, a: matrix(7), b: matrix(5), c: matrix(1) }
    }

    /// Computes the product, with a call after each block.
    pub(crate) fn multiply(
        &mut self,
        mut after_block: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let n = self.blocks;
        self.c.fill(Block([[0.0; BLOCK]; BLOCK]));
        for i in 0..n {
            for j in 0..n {
                for k in 0..n {
                    multiply_block(&mut self.c[i * n + j], &self.a[i * n + k], &self.b[k * n + j]);
                    after_block()?;
                }
            }
        }
        Ok(())
    }

    /// Computes the product again and again until `end_ns` of the clock that all ranks share.
    pub(crate) fn multiply_until(&mut self, end_ns: u64) -> io::Result<()> {
        while now_ns() < end_ns {
            self.multiply(|| Ok(()))?;
        }
        Ok(())
    }

    /// Returns the sum of the product's elements as integers.
    pub(crate) fn checksum(&self) -> u32 {
        let elements = self.c.iter().flat_map(|block| block.0.as_flattened());
        elements.fold(0, |sum, element| sum.wrapping_add(element.to_bits()))
    }
}

#[inline(never)]
fn multiply_block(z: &mut Block, x: &Block, y: &Block) {
    for i in 0..BLOCK {
        for k in 0..BLOCK {
            for j in 0..BLOCK {
                z.0[i][j] += x.0[i][k] * y.0[k][j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Product};

    #[test]
    fn it_is_the_product_and_calls_after_each_block() {
        let order = 2 * BLOCK;
        let mut product = Product::new(order);
        let at = |row: usize, column: usize| {
            let block = row / BLOCK * 2 + column / BLOCK;
            (block * BLOCK + row % BLOCK) * BLOCK + column % BLOCK
        };
        let mut calls = 0;
        for _ in 0..2 {
            let count = || {
                calls += 1;
                Ok(())
            };
            product.multiply(count).expect("no call fails");
        }
        assert_eq!(calls, 16);
        let mut sum = 0u32;
        for row in 0..order {
            for column in 0..order {
                let element: usize = (0..order).map(|k| at(row, k) % 7 * (at(k, column) % 5)).sum();
                assert_eq!(
                    product.c[at(row, column) / BLOCK / BLOCK].0[row % BLOCK][column % BLOCK],
                    element as f32
                );
                sum = sum.wrapping_add((element as f32).to_bits());
            }
        }
        assert_eq!(product.checksum(), sum);
    }
}
