/** Style sheets are imported for their effect only; the build links them. */
declare module '*.css';
