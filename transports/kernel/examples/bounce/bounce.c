/* Three ways to answer a frame by one frame: from XDP, and by both redirections of a classifier. Both
 * ends of a wire answer, so that a frame goes to and fro until it was answered often enough.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct xdp_md {
	u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

struct __sk_buff {
	u32 len, pkt_type, mark, queue_mapping, protocol;
	u32 vlan_present, vlan_tci, vlan_proto, priority, ingress_ifindex, ifindex;
};

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
static long (*bpf_skb_store_bytes)(struct __sk_buff *, u32, const void *, u32, u64) = (void *)9;
static long (*bpf_clone_redirect)(struct __sk_buff *, u32, u64) = (void *)13;
static long (*bpf_redirect)(u32, u64) = (void *)23;
static long (*bpf_skb_load_bytes)(const struct __sk_buff *, u32, void *, u32) = (void *)26;

#define SECTION(name) __attribute__((section(name), used))
#define XDP_DROP 1
#define XDP_PASS 2
#define XDP_TX 3
#define TC_ACT_UNSPEC -1
#define TC_ACT_SHOT 2
#define ETHERTYPE 0xb788 /* 0x88b7 */

struct counts {
	u64 answers, limit, first, last;
};

struct {
	int (*type)[2];
	int (*max_entries)[1];
	u32 *key;
	struct counts *value;
} counts SECTION(".maps");

/* Returns 1 if the frame is to be answered. */
static inline __attribute__((always_inline)) int counted(void)
{
	u32 zero = 0;
	struct counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (!c || c->answers >= c->limit)
		return 0;
	c->last = bpf_ktime_get_ns();
	if (!c->answers)
		c->first = c->last;
	c->answers++;
	return 1;
}

SECTION("xdp") int from_xdp(struct xdp_md *frame)
{
	u16 *data = (void *)(u64)frame->data;
	u32 i;

	if ((u64)(data + 7) > frame->data_end || data[6] != ETHERTYPE)
		return XDP_PASS;
	if (!counted())
		return XDP_DROP;
#pragma clang loop unroll(full)
	for (i = 0; i < 3; i++) {
		u16 swapped = data[i];
		data[i] = data[3 + i];
		data[3 + i] = swapped;
	}
	return XDP_TX;
}

/* Reads and writes the header by helpers, as the engine does. */
static inline __attribute__((always_inline)) int turned(struct __sk_buff *frame)
{
	u16 header[7], swapped[6];
	u32 i;

	if (bpf_skb_load_bytes(frame, 0, header, sizeof(header)) || header[6] != ETHERTYPE)
		return TC_ACT_UNSPEC;
	if (!counted())
		return TC_ACT_SHOT;
#pragma clang loop unroll(full)
	for (i = 0; i < 6; i++)
		swapped[i] = header[(i + 3) % 6];
	return bpf_skb_store_bytes(frame, 0, swapped, sizeof(swapped), 0) ? TC_ACT_SHOT : 0;
}

SECTION("classifier") int by_redirect(struct __sk_buff *frame)
{
	int verdict = turned(frame);

	return verdict ? verdict : bpf_redirect(frame->ifindex, 0);
}

SECTION("classifier") int by_clone(struct __sk_buff *frame)
{
	int verdict = turned(frame);

	if (verdict)
		return verdict;
	bpf_clone_redirect(frame, frame->ifindex, 0);
	return TC_ACT_SHOT;
}

char bounce_license[] SECTION("license") = "Dual MIT/GPL";
