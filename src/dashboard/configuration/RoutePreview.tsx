/** Which workspaces a delivery reaches, by its trigger, repository and branch. */
import { useState } from "react"
import { call } from "../client/Call.ts"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Facts } from "../parts/Facts.tsx"
import { Failure, Panel } from "../parts/Panel.tsx"
import { t, tReason } from "../text/T.ts"
import type { ConfigEdit } from "./FieldOperations.ts"

type Result = Output<"POST /config/preview-route">

const names = (workspaces: ReadonlyArray<string>): string =>
  workspaces.length === 0 ? t("route.none") : workspaces.join(", ")

const Outcome = ({ hasEdit, result }: { readonly result: Result; readonly hasEdit: boolean }) => (
  <>
    <Facts
      items={[
        [hasEdit ? t("route.before") : t("route.reaches"), names(result.before)],
        hasEdit && [t("route.after"), names(result.after)]
      ]}
    />
    {result.before.length > 1 || (hasEdit && result.after.length > 1) ? (
      <p className="error-text">{t("route.ambiguous")}</p>
    ) : null}
    {result.problems.map(({ reason }, index) => (
      <p key={index} className="error-text">
        {tReason(reason)}
      </p>
    ))}
  </>
)

/** With an edit, also where the delivery goes once it is published. */
export const RoutePreview = ({ edit }: { readonly edit?: ConfigEdit }) => {
  const triggers = useApi("GET /triggers", {})
  const [trigger, setTrigger] = useState("")
  const [repository, setRepository] = useState("")
  const [branch, setBranch] = useState("")
  const [result, setResult] = useState<Result>()
  const [failure, setFailure] = useState<unknown>()
  const items = triggers.data?.items ?? []
  const selected = items.find(({ name }) => name === trigger) ?? items[0]
  const preview = async () => {
    setFailure(undefined)
    setResult(undefined)
    if (selected === undefined) return
    const [, namespace, name] = /^(.*)\/([^/]+)$/.exec(repository.trim()) ?? []
    try {
      setResult(
        await call("POST /config/preview-route", {
          payload: {
            ...edit,
            trigger: selected.name,
            source: {
              vcs: selected.kind,
              repo_ref: repository.trim(),
              ...(namespace === undefined || name === undefined ? undefined : { namespace, repository: name }),
              ...(branch.trim() === "" ? undefined : { branch: branch.trim(), ref: `refs/heads/${branch.trim()}` })
            }
          }
        })
      )
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <Panel title={t("route.title")} note={t("route.note")}>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          void preview()
        }}
      >
        <label className="filter">
          <span>{t("column.trigger")}</span>
          <select value={selected?.name ?? ""} onChange={(event) => setTrigger(event.target.value)}>
            {items.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="filter">
          <span>{t("column.repository")}</span>
          <input
            value={repository}
            required
            placeholder="owner/name"
            onChange={(event) => setRepository(event.target.value)}
          />
        </label>
        <label className="filter">
          <span>{t("column.branch")}</span>
          <input value={branch} placeholder="main" onChange={(event) => setBranch(event.target.value)} />
        </label>
        <button type="submit" disabled={selected === undefined}>
          {t("route.preview")}
        </button>
      </form>
      {failure === undefined ? null : <Failure error={failure} />}
      {result === undefined ? null : <Outcome result={result} hasEdit={edit !== undefined} />}
    </Panel>
  )
}
