// Puts the data of a run into the template of the page, as `uctrace view` does.

const dataTag = (id) => `<script type="application/json" id="${id}"></script>`;
/** The places for the data; each occurs once. */
export const kDataTags = ['uctrace-data', 'uctrace-packed'].map(dataTag);

export function fillTemplate(template, { packed, ...run }) {
  const put = (page, tag, value) => {
    // As page_data.cpp does it.
    const json = JSON.stringify(value).replaceAll('</', '<\\/').replace(/<(?!\\)/g, '\\u003c');
    return page.replace(tag, () => tag.replace('><', `>${json}<`));
  };
  const [ofRun, ofTables] = kDataTags;
  return put(put(template, ofRun, run), ofTables, packed ?? null);
}
