/** Stands in for ICU's number and date skeletons (`{n, number, ::compact}`): our messages use none, and the check keeps it so. */
const refuse = (): never => {
  throw new Error('messages use no skeletons');
};

export { refuse as parseDateTimeSkeleton, refuse as parseNumberSkeleton, refuse as parseNumberSkeletonFromString };
