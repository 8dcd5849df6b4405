/** What the host sent, without credentials, and the repetition of the delivery with the configuration of now. */
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { Output } from "../client/Endpoints.ts"
import { Problem } from "../client/Problem.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { Facts } from "../parts/Facts.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Empty, Failure, Loading, Panel } from "../parts/Panel.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"

type Payload = Output<"GET /events/:id/payload">

/** Bodies are JSON in most cases, of any depth; those that are long stay as they are. */
const maxFormatted = 200_000

const format = (body: string): string => {
  if (body.length > maxFormatted) return body
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

const Content = ({ payload }: { readonly payload: Payload }) => (
  <>
    <Facts
      items={[
        [t("payload.path"), <code key="path">{payload.path}</code>],
        [t("payload.size"), t("payload.bytes", { count: formatCount(payload.bytes) })],
        payload.replay_of !== undefined && [
          t("payload.replayOf"),
          <Link key="of" to="/deliveries/$id" params={{ id: payload.replay_of }}>
            {payload.replay_of}
          </Link>
        ]
      ]}
    />
    <Scroll label={t("payload.headers")}>
      <pre className="payload">
        {Object.entries(payload.headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n")}
      </pre>
    </Scroll>
    <Scroll label={t("payload.body")}>
      <pre className="payload tall">{format(payload.body)}</pre>
    </Scroll>
    {payload.cut ? <p className="quiet">{t("payload.cut")}</p> : null}
  </>
)

/** Read when it is opened: bodies have up to some megabytes. */
export const DeliveryPayload = ({ id }: { readonly id: string }) => {
  const [isOpen, setOpen] = useState(false)
  const query = useApi("GET /events/:id/payload", { params: { id } }, { enabled: isOpen })
  const isMissing = query.error instanceof Problem && query.error.status === 404
  return (
    <Panel
      title={t("payload.title")}
      note={t("payload.note")}
      actions={
        <ActionButton
          action="GET /events/:id/payload"
          className="small"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t("payload.hide") : t("payload.show")}
        </ActionButton>
      }
    >
      {!isOpen ? null : query.data !== undefined ? (
        <Content payload={query.data} />
      ) : isMissing ? (
        <Empty title={t("payload.missing")} />
      ) : query.error === null ? (
        <Loading />
      ) : (
        <Failure error={query.error} retry={() => void query.refetch()} />
      )}
    </Panel>
  )
}

export const ReplayDelivery = ({ id }: { readonly id: string }) => {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  const replay = useNoticedAction("POST /events/:id/replay", [
    "GET /events",
    "GET /events/:id",
    "GET /events/reasons",
    "GET /queue"
  ])
  const confirm = () =>
    replay.run(
      { params: { id } },
      ({ decision, reason }) =>
        t("replay.done", {
          decision: reason === undefined ? tValue("decision", decision) : tValue("reason", reason)
        }),
      {
        onSuccess: ({ event_id: next }) => void navigate({ to: "/deliveries/$id", params: { id: next } }),
        onSettled: () => setOpen(false)
      }
    )
  return (
    <>
      <ActionButton action="POST /events/:id/replay" onClick={() => setOpen(true)}>
        {t("replay.title")}
      </ActionButton>
      {isOpen ? (
        <Confirm
          title={t("replay.title")}
          label={t("replay.title")}
          isPending={replay.isPending}
          onConfirm={confirm}
          onClose={() => setOpen(false)}
        >
          <p>{t("replay.help")}</p>
        </Confirm>
      ) : null}
    </>
  )
}
