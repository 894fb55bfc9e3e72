/** The oldest version of pg that the driver takes, under a name of its own. What the tests use of it is as in the newest. */
declare module 'pg-oldest' {
  import pg from 'pg';
  export default pg;
}
