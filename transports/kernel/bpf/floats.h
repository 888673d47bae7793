/* Operations on floating-point numbers by integers: BPF has no others. IEEE 754, rounded to nearest,
 * ties to even, subnormal numbers included. A NaN that is computed is always the positive quiet one.
 * Max and min of a number and a NaN are the number, and -0 is less than +0.
 *
 * A format has a sign, an exponent and `fraction` bits. Significands are computed with three bits more
 * than they have; the last one is 1 if anything behind it is.
 */
#ifndef GOAL_FLOATS_H
#define GOAL_FLOATS_H

enum { FLOAT16 = 10, FLOAT32, FLOAT64 };

/* Bits of the quotient that a step of the division gives: a remainder has 53 bits, and a word 64. */
#define DIVIDED_BITS 11
/* Its steps behind the first bit: 55 bits, three more than the longest fraction. */
#define DIVIDED_STEPS 5

struct format {
	u64 sign, infinity, nan, one;
	u32 fraction;
	s32 bias;
};

INLINE void format_of(struct format *f, u32 type)
{
	if (type == FLOAT16) {
		f->fraction = 10;
		f->bias = 15;
	} else if (type == FLOAT32) {
		f->fraction = 23;
		f->bias = 127;
	} else {
		f->fraction = 52;
		f->bias = 1023;
	}
	f->infinity = (u64)(2 * f->bias + 1) << f->fraction;
	f->sign = f->infinity + (1ULL << f->fraction);
	f->nan = f->infinity + (1ULL << (f->fraction - 1));
	f->one = (u64)f->bias << f->fraction;
}

/* Shifts to the right. The last bit stays 1 if any bit is lost. */
INLINE u64 shifted(u64 x, u64 by)
{
	if (by == 0)
		return x;
	if (by > 63)
		return x != 0;
	return x >> by | (x << (64 - by) != 0);
}

/* The zeros before the first 1 of a number that is not 0. */
INLINE u32 leading_zeros(u64 x)
{
	u32 zeros = 0;

	if (!(x >> 32)) {
		zeros += 32;
		x <<= 32;
	}
	if (!(x >> 48)) {
		zeros += 16;
		x <<= 16;
	}
	if (!(x >> 56)) {
		zeros += 8;
		x <<= 8;
	}
	if (!(x >> 60)) {
		zeros += 4;
		x <<= 4;
	}
	if (!(x >> 62)) {
		zeros += 2;
		x <<= 2;
	}
	return zeros + !(x >> 63);
}

/* Splits a finite number that is not 0 into its exponent and a significand with its first bit. */
INLINE void normalised(const struct format *f, u64 magnitude, s64 *exponent, u64 *significand)
{
	u64 first = 1ULL << f->fraction;

	*exponent = magnitude >> f->fraction;
	*significand = magnitude & (first - 1);
	if (*exponent) {
		*significand |= first;
	} else {
		u32 by = (leading_zeros(*significand) - (63 - f->fraction)) & 63;
		*significand <<= by;
		*exponent = 1 - (s64)by;
	}
}

/* Rounds a significand with three more bits, whose first one belongs to `exponent`. */
INLINE u64 rounded(const struct format *f, u64 sign, s64 exponent, u64 significand)
{
	u64 rest, result;

	if (exponent < 1) {
		significand = shifted(significand, 1 - exponent);
		exponent = 1;
	}
	if (exponent > 2 * f->bias)
		return sign | f->infinity;
	rest = significand & 7;
	significand >>= 3;
	significand += rest > 4 || (rest == 4 && significand & 1);
	/* The first bit counts one up in the exponent; a carry into the bit before it, two. */
	result = ((u64)(exponent - 1) << f->fraction) + significand;
	return sign | (result > f->infinity ? f->infinity : result);
}

INLINE u64 float_sum(const struct format *f, u64 x, u64 y)
{
	u64 a = x & ~f->sign, b = y & ~f->sign, first = 1ULL << f->fraction;
	u64 significand, other, distance;
	s64 exponent, lesser;

	if (a == f->infinity || b == f->infinity) {
		if (a == b && x != y)
			return f->nan;
		return a == f->infinity ? x : y;
	}
	if (a < b) {
		u64 swapped = x;
		x = y;
		y = swapped;
		swapped = a;
		a = b;
		b = swapped;
	}
	exponent = a >> f->fraction;
	lesser = b >> f->fraction;
	significand = a & (first - 1);
	other = b & (first - 1);
	if (exponent)
		significand |= first;
	else
		exponent = 1;
	if (lesser)
		other |= first;
	else
		lesser = 1;
	significand <<= 3;
	other = shifted(other << 3, exponent - lesser);
	if ((x ^ y) & f->sign)
		significand -= other;
	else
		significand += other;
	if (!significand)
		/* Two zeros of one sign keep it; numbers that cancel out leave +0. */
		return x & y & f->sign;
	if (significand >> (f->fraction + 4)) {
		significand = shifted(significand, 1);
		exponent++;
	} else {
		distance = leading_zeros(significand) - (60 - f->fraction);
		if (distance > exponent - 1)
			distance = exponent - 1;
		significand <<= distance & 63;
		exponent -= distance;
	}
	return rounded(f, x & f->sign, exponent, significand);
}

INLINE u64 float_product(const struct format *f, u64 x, u64 y)
{
	u64 sign = (x ^ y) & f->sign, a = x & ~f->sign, b = y & ~f->sign;
	u64 low, middle, high, significand;
	s64 exponent, other;
	u32 by = f->fraction - 3;

	if (a == f->infinity || b == f->infinity)
		return a && b ? sign | f->infinity : f->nan;
	if (!a || !b)
		return sign;
	normalised(f, a, &exponent, &a);
	normalised(f, b, &other, &b);
	exponent += other - f->bias;
	/* 128 bits, of halves. */
	low = (u64)(u32)a * (u32)b;
	middle = (a >> 32) * (u32)b + (low >> 32);
	high = (a >> 32) * (b >> 32) + (middle >> 32);
	middle = (u32)middle + (u64)(u32)a * (b >> 32);
	high += middle >> 32;
	low = middle << 32 | (u32)low;
	significand = high << (64 - by) | low >> by | (low << (64 - by) != 0);
	if (significand >> (f->fraction + 4)) {
		significand = shifted(significand, 1);
		exponent++;
	}
	return rounded(f, sign, exponent, significand);
}

INLINE u64 float_quotient(const struct format *f, u64 x, u64 y)
{
	u64 sign = (x ^ y) & f->sign, a = x & ~f->sign, b = y & ~f->sign;
	u64 quotient = 1, rest;
	s64 exponent, other;
	u32 i;

	if (a == f->infinity)
		return b == f->infinity ? f->nan : sign | f->infinity;
	if (!b)
		return a ? sign | f->infinity : f->nan;
	if (!a || b == f->infinity)
		return sign;
	normalised(f, a, &exponent, &a);
	normalised(f, b, &other, &b);
	exponent += f->bias - other;
	if (a < b) {
		a <<= 1;
		exponent--;
	}
	rest = a - b;
	UNROLL
	for (i = 0; i < DIVIDED_STEPS; i++) {
		rest <<= DIVIDED_BITS;
		quotient = quotient << DIVIDED_BITS | rest / b;
		rest %= b;
	}
	quotient = shifted(quotient, 52 - f->fraction) | (rest != 0);
	return rounded(f, sign, exponent, quotient);
}

/* Numbers in their order, -0 before +0. */
INLINE u64 ordinal(const struct format *f, u64 x)
{
	return x & f->sign ? ~x & (f->sign | (f->sign - 1)) : x | f->sign;
}

/* Returns x op y; all three have the bits of numbers of a type. */
GLOBAL u64 float_result(u64 x, u64 y, u32 op, u32 type)
{
	struct format f;
	u64 magnitude_x, magnitude_y;
	u32 is_true;

	format_of(&f, type);
	magnitude_x = x & ~f.sign;
	magnitude_y = y & ~f.sign;
	switch (op) {
	case LAND: is_true = magnitude_x && magnitude_y; break;
	case LOR: is_true = magnitude_x || magnitude_y; break;
	case LXOR: is_true = !magnitude_x != !magnitude_y; break;
	default: is_true = 2;
	}
	if (is_true < 2)
		return is_true ? f.one : 0;
	if (op == MAX || op == MIN) {
		if (magnitude_x > f.infinity)
			x = y;
		else if (magnitude_y <= f.infinity &&
			 (ordinal(&f, x) < ordinal(&f, y)) == (op == MAX))
			x = y;
		return (x & ~f.sign) > f.infinity ? f.nan : x;
	}
	if (magnitude_x > f.infinity || magnitude_y > f.infinity)
		return f.nan;
	switch (op) {
	case SUB: return float_sum(&f, x, y ^ f.sign);
	case PROD: return float_product(&f, x, y);
	case DIV: return float_quotient(&f, x, y);
	}
	return float_sum(&f, x, y);
}

#endif
