use super::Queue;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[test]
fn what_came_first_of_the_least_key_leaves_first() {
    let mut random = fastrand::Rng::with_seed(3);
    for keys in [1, 2, 64, 65, 5000] {
        let (mut queue, mut heap) = (Queue::new(keys), BinaryHeap::new());
        assert_eq!(queue.pop(), None);
        for number in 0..20_000 {
            if random.u32(..20_000) < number {
                assert_eq!(
                    queue.pop(),
                    heap.pop().map(|Reverse((_, number))| number),
                    "{keys} keys"
                );
            } else {
                let key = random.u32(..keys as u32);
                queue.push(key, number);
                heap.push(Reverse((key, number)));
            }
        }
        while let Some(Reverse((_, number))) = heap.pop() {
            assert_eq!(queue.pop(), Some(number), "{keys} keys");
        }
        assert_eq!(queue.pop(), None);
    }
}
