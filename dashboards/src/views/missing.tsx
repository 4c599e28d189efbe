import { A, Empty, Page } from '../parts';

export default function View() {
  return (
    <Page title="No such page">
      <Empty>
        Nothing has this address. <A href="/">The overview</A> leads to everything there is.
      </Empty>
    </Page>
  );
}
