// What views are made of.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { TaskState, VerdictKind } from '../generated/proto/assay_pb';
import { navigate } from './router';

export { Below, Table, type Column } from './table';

interface PageProps {
  title: string;
  intro?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, intro, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · assay`;
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {actions}
      </header>
      {intro && <p class="intro">{intro}</p>}
      {children}
    </>
  );
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('');
  // Browsers give the clipboard to pages of this machine and to encrypted ones.
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('The browser refuses: select the text');
    }
  };
  return (
    <button type="button" class="small" onClick={() => void copy()} onBlur={() => setSaid('')}>
      {said || label}
    </button>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code> <Copy text={text} />
    </span>
  );
}

// A link that the page follows itself.
export function A({ href, children, title }: { href: string; children: ComponentChildren; title?: string }) {
  return (
    <a
      href={href}
      title={title}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(href);
      }}
    >
      {children}
    </a>
  );
}

export type Tone = 'good' | 'bad' | 'warn';

export function Tag({ children, tone }: { children: ComponentChildren; tone?: Tone }) {
  return <span class={`tag ${tone ?? ''}`}>{children}</span>;
}

// A sign beside the word: colour alone tells nothing.
const verdicts: Record<number, { sign: string; word: string; tone?: Tone }> = {
  [VerdictKind.FASTER]: { sign: '▼', word: 'faster', tone: 'good' },
  [VerdictKind.SAME]: { sign: '=', word: 'same' },
  [VerdictKind.SLOWER]: { sign: '▲', word: 'slower', tone: 'warn' },
  [VerdictKind.UNDECIDED]: { sign: '?', word: 'undecided' },
  [VerdictKind.REJECTED]: { sign: '✕', word: 'rejected', tone: 'bad' },
  [VerdictKind.NOT_JUDGED]: { sign: '·', word: 'not judged' },
};

export function VerdictChip({ kind }: { kind: VerdictKind }) {
  const verdict = verdicts[kind];
  if (!verdict) return <>–</>;
  return (
    <Tag tone={verdict.tone}>
      <span aria-hidden="true">{verdict.sign}</span> {verdict.word}
    </Tag>
  );
}

const tones: Record<number, Tone | undefined> = {
  [TaskState.DONE]: undefined,
  [TaskState.RUNNING]: 'good',
  [TaskState.FAILED]: 'bad',
  [TaskState.CANCELLED]: 'warn',
  [TaskState.INTERRUPTED]: 'warn',
};

export function StateChip({ state }: { state: TaskState }) {
  return <Tag tone={tones[state]}>{(TaskState[state] ?? 'unknown').toLowerCase()}</Tag>;
}
