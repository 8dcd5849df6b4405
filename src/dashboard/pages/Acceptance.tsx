/** Which kinds of findings the maintainers of a repository accept, and which ones are folded. An operator can reset them. */
import { useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { Item } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Confirm } from "../parts/Dialog.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { formatCount, formatRate } from "../text/Format.ts"
import "../text/PagedTexts.ts"
import { t, tValue } from "../text/T.ts"

type Kind = Item<"GET /acceptance">

interface ResetProps {
  readonly name: string
  /** Undefined for all. */
  readonly category: string | undefined
  readonly onClose: () => void
}

const ResetDialog = ({ category, name, onClose }: ResetProps) => {
  const reset = useNoticedAction("POST /acceptance/reset", ["GET /acceptance"])
  const confirm = () =>
    reset.run(
      { payload: { name, ...(category === undefined ? {} : { category }) } },
      ({ forgotten }) => t("acceptance.reset.done", { count: forgotten }),
      { onSettled: onClose }
    )
  const what = category === undefined ? name : `${name}: ${tValue("category", category)}`
  return (
    <Confirm
      title={t("acceptance.reset.title", { name: what })}
      label={t("acceptance.reset")}
      isDangerous
      isPending={reset.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("acceptance.reset.help")}</p>
    </Confirm>
  )
}

const KindRow = ({ kind, onReset }: { readonly kind: Kind; readonly onReset: () => void }) => (
  <tr>
    <td>{tValue("category", kind.category)}</td>
    <td>
      <Status group="severity" value={kind.severity} />
    </td>
    <td>{kind.model}</td>
    <td className="end">{formatCount(kind.judged)}</td>
    <td className="end">{formatCount(kind.accepted)}</td>
    <td className="end">{formatRate(kind.share)}</td>
    <td>{t(kind.folded ? "acceptance.folded" : "acceptance.shown")}</td>
    <td className="end">
      <ActionButton action="POST /acceptance/reset" className="small" onClick={onReset}>
        {t("acceptance.reset")}
        <span className="hidden"> {kind.category}</span>
      </ActionButton>
    </td>
  </tr>
)

export const Acceptance = () => {
  const { name, workspace } = useSearch({ from: "/acceptance" })
  const query = useApi("GET /acceptance", { query: { name, workspace } })
  const [resetting, setResetting] = useState<{ readonly category: string | undefined }>()
  return (
    <Page
      title={t("page.acceptance")}
      back={{ to: "/projects", label: "page.projects" }}
      note={`${name} · ${workspace}`}
      actions={
        <ActionButton action="POST /acceptance/reset" onClick={() => setResetting({ category: undefined })}>
          {t("acceptance.reset.all")}
        </ActionButton>
      }
    >
      <Loaded query={query}>
        {({ floor, items }) => (
          <TablePanel
            title={t("acceptance.title", { count: items.length })}
            note={floor === 0 ? t("acceptance.off") : t("acceptance.floor", { floor: formatRate(floor) })}
            heads={[
              { label: t("acceptance.category") },
              { label: t("acceptance.severity") },
              { label: t("column.model") },
              { label: t("acceptance.judged"), end: true },
              { label: t("acceptance.accepted"), end: true },
              { label: t("acceptance.share"), end: true },
              { label: t("acceptance.state") },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("acceptance.empty")} />}
            rows={items.map((kind) => (
              <KindRow
                key={`${kind.category} ${kind.severity} ${kind.model}`}
                kind={kind}
                onReset={() => setResetting({ category: kind.category })}
              />
            ))}
          />
        )}
      </Loaded>
      {resetting === undefined ? null : (
        <ResetDialog name={name} category={resetting.category} onClose={() => setResetting(undefined)} />
      )}
    </Page>
  )
}
