/** Why the data cannot be shown, in words for the reader of the page. */
export class DataError extends Error {
  override name = 'DataError';
}
