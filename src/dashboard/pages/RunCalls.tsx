/** Model calls of a run: what each sent and what it returned, as stored. Read when they are opened. */
import { useState } from "react"
import type { Item, Output } from "../client/Endpoints.ts"
import { useApi, usePages } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Empty, Failure, Loaded, Loading, Panel } from "../parts/Panel.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { StackedTable } from "../parts/StackedTable.tsx"
import { formatDuration } from "../text/FormatDuration.ts"
import { formatClock, formatCount, formatExact, formatUsd } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"

type Call = Item<"GET /runs/:id/calls">
type CallText = Output<"GET /runs/:id/calls/:call">["texts"][number]

const maybeCount = (count: number | undefined): string => (count === undefined ? "–" : formatCount(count))

const Text = ({ entry: { cut, role, text } }: { readonly entry: CallText }) => (
  <section className="call-text">
    <h3>{t(`call.${role}`)}</h3>
    <Scroll label={t(`call.${role}`)}>
      <pre className="payload tall">{text}</pre>
    </Scroll>
    {cut === true ? <p className="quiet">{t("call.cut")}</p> : null}
  </section>
)

const CallDialog = ({
  call,
  onClose,
  run
}: {
  readonly call: string
  readonly run: string
  readonly onClose: () => void
}) => {
  const query = useApi("GET /runs/:id/calls/:call", { params: { id: run, call } })
  return (
    <Dialog title={t("call.title")} className="wide" onClose={onClose}>
      <Loaded query={query}>
        {({ omitted, texts }) => (
          <>
            <p className="quiet">{t("call.note")}</p>
            {omitted === undefined ? null : <p className="quiet">{t("call.omitted", { count: omitted })}</p>}
            {texts.map((entry, index) => (
              <Text key={index} entry={entry} />
            ))}
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

const CallRow = ({ call, onOpen }: { readonly call: Call; readonly onOpen: () => void }) => (
  <tr>
    <td>
      <button type="button" className="small" onClick={onOpen} title={formatExact(call.at)}>
        {formatClock(call.at)}
      </button>
    </td>
    <td className="mono">
      {call.model}
      {call.failure === undefined ? null : <p className="error-text">{tReason(call.failure)}</p>}
    </td>
    <td className="end">{formatCount(call.messages)}</td>
    <td className="end">{maybeCount(call.input_tokens)}</td>
    <td className="end">{maybeCount(call.output_tokens)}</td>
    <td className="end">{formatDuration(call.duration_ms)}</td>
    <td className="end">{formatUsd(call.cost_usd)}</td>
  </tr>
)

const Calls = ({ run }: { readonly run: string }) => {
  const [opened, setOpened] = useState<string>()
  const list = usePages("GET /runs/:id/calls", { params: { id: run } })
  if (list.error !== null) return <Failure error={list.error} retry={() => void list.refetch()} />
  if (list.data === undefined) return <Loading />
  if (list.items.length === 0) return <Empty title={t("call.empty")} />
  return (
    <>
      <StackedTable
        label={t("call.list")}
        heads={[
          { label: t("column.started") },
          { label: t("column.model") },
          ...(["messages", "input", "output", "duration", "cost"] as const).map((name) => ({
            label: t(`column.${name}`),
            end: true
          }))
        ]}
        rows={list.items.map((call) => (
          <CallRow key={call.id} call={call} onOpen={() => setOpened(call.id)} />
        ))}
      />
      {list.hasNextPage ? (
        <button type="button" onClick={() => void list.fetchNextPage()} disabled={list.isFetchingNextPage}>
          {t("call.more")}
        </button>
      ) : null}
      {opened === undefined ? null : <CallDialog run={run} call={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}

export const RunCalls = ({ run }: { readonly run: string }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <Panel
      title={t("call.list")}
      actions={
        <ActionButton
          action="GET /runs/:id/calls"
          className="small"
          id="calls"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t("run.log.hide") : t("run.log.show")}
        </ActionButton>
      }
      flush
    >
      {isOpen ? <Calls run={run} /> : null}
    </Panel>
  )
}
