/** What a review in shadow would have published, and how its workspace begins to publish. */
import { Link, useNavigate } from "@tanstack/react-router"
import { useApi } from "../client/Queries.ts"
import { Copy } from "../parts/Facts.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Panel } from "../parts/Panel.tsx"
import { Prose } from "../parts/Prose.tsx"
import { t, tReason, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"

/** The lines of the configuration with which a workspace publishes. */
const lines = (workspace: string): string =>
  ["workspaces:", "  instances:", `    ${JSON.stringify(workspace)}:`, "      outputs:", "        shadow: false"].join(
    "\n"
  )

/** Prepares the change of the configuration as a draft, where the database is a source of it. */
const GoLive = ({ workspace }: { readonly workspace: string }) => {
  const source = useApi("GET /config/status", {})
  const create = useNoticedAction("POST /config/drafts", ["GET /config/drafts"])
  const navigate = useNavigate()
  const prepare = () =>
    create.run(
      {
        payload: {
          title: t("withheld.draft", { workspace }),
          base_revision: source.data?.head ?? 0,
          operations: [
            {
              op: "set",
              entity: { kind: "workspaces", name: workspace },
              path: ["outputs", "shadow"],
              value: false
            }
          ]
        }
      },
      () => t("edit.draft.saved"),
      { onSuccess: () => void navigate({ to: "/configuration", search: { tab: "revisions" } }) }
    )
  return (
    <details className="more">
      <summary>{t("withheld.live")}</summary>
      <p>{t("withheld.live.help")}</p>
      <pre className="code">{lines(workspace)}</pre>
      <div className="actions">
        <Copy value={lines(workspace)} shown="shadow: false" />
        {source.data === undefined ? null : (
          <button type="button" className="small" disabled={create.isPending} onClick={prepare}>
            {t("withheld.prepare")}
          </button>
        )}
        <Link className="button small" to="/configuration">
          {t("page.configuration")}
        </Link>
      </div>
    </details>
  )
}

export const RunWithheld = ({ run: { withheld, workspace } }: { readonly run: RunDetails }) => {
  if (withheld === undefined) return null
  const { description, state, texts } = withheld
  return (
    <Panel title={t("withheld.title")} note={t("withheld.note")}>
      {state === undefined ? null : (
        <p>
          <strong>{t(`withheld.state.${state}`)}</strong> {description === undefined ? null : tReason(description)}
        </p>
      )}
      {texts.length === 0 ? <p className="quiet">{t("withheld.none")}</p> : null}
      {texts.map(({ channel, line, operation, path, text }, index) => (
        <details key={index} className="more" open={index === 0}>
          <summary>
            {tValue("operation", operation)} <span className="quiet">{channel}</span>{" "}
            {path === undefined ? null : <code>{line === undefined ? path : `${path}:${line}`}</code>}
          </summary>
          <div className="prose">
            <Prose text={text} />
          </div>
        </details>
      ))}
      <GoLive workspace={workspace} />
    </Panel>
  )
}
