/** What an edit would do: problems, warnings, changed values, and what else is affected. */
import type { Output } from "../client/Endpoints.ts"
import { Empty, Panel } from "../parts/Panel.tsx"
import { Shape } from "../parts/Status.tsx"
import { StackedTable } from "../parts/StackedTable.tsx"
import { t, tReason, tValue } from "../text/T.ts"
import { parsePath } from "./FieldValues.ts"
import { fullPath, renderValue } from "./RenderValue.ts"

type Preview = Output<"POST /config/validate">

const Problems = ({ problems }: { readonly problems: Preview["problems"] }) =>
  problems.length === 0 ? null : (
    <Panel title={t("edit.problems")} flush>
      <ul className="rows plain">
        {problems.map((problem, index) => (
          <li key={index} className="tone-bad">
            <span className="status">
              <Shape tone="bad" />
              <code>{fullPath(problem)}</code>
            </span>
            <div>{tReason(problem.reason)}</div>
          </li>
        ))}
      </ul>
    </Panel>
  )

export const Differences = ({ diff }: { readonly diff: Preview["diff"] }) => (
  <Panel title={t("edit.diff", { count: diff.length })} flush>
    {diff.length === 0 ? (
      <Empty title={t("edit.nothing")} />
    ) : (
      <StackedTable
        label={t("edit.title")}
        heads={[
          { label: t("config.path") },
          { label: t("edit.change") },
          { label: t("edit.before") },
          { label: t("edit.after") }
        ]}
        rows={diff.map(({ after, before, change, path }) => (
          <tr key={path}>
            <td className="mono">{parsePath(path).join(".")}</td>
            <td>{tValue("difference", change)}</td>
            <td className="mono">{renderValue(before)}</td>
            <td className="mono">{renderValue(after)}</td>
          </tr>
        ))}
      />
    )}
  </Panel>
)

const renderReceiver = (receiver: Readonly<Record<string, unknown>> | undefined): string =>
  Object.entries(receiver ?? {})
    .map(([name, value]) => `${name} ${renderValue(value)}`)
    .join(", ") || renderValue(undefined)

/** Credentials are masked in the changed values: here is who receives them. */
export const Credentials = ({ credentials }: { readonly credentials: Preview["credentials"] }) =>
  credentials.length === 0 ? null : (
    <Panel title={t("edit.credentials", { count: credentials.length })} note={t("edit.credentials.note")} flush>
      <StackedTable
        label={t("edit.credentials", { count: credentials.length })}
        heads={[
          { label: t("config.path") },
          { label: t("edit.change") },
          { label: t("edit.sent.before") },
          { label: t("edit.sent.after") }
        ]}
        rows={credentials.map(({ after, before, change, from, ...place }) => (
          <tr key={fullPath(place)} className={change === "set" ? undefined : "tone-warn"}>
            <td className="mono">{fullPath(place)}</td>
            <td>
              {tValue("credential", change)} {from === undefined ? null : <span className="mono">{from}</span>}
            </td>
            <td className="mono">{renderReceiver(before)}</td>
            <td className="mono">{renderReceiver(after)}</td>
          </tr>
        ))}
      />
    </Panel>
  )

const Affected = ({ radius }: { readonly radius: Preview["blast_radius"] }) => {
  const lists: ReadonlyArray<readonly [string, ReadonlyArray<string | number>]> = [
    [t("column.workspace"), radius.workspaces],
    [t("column.trigger"), radius.triggers],
    [t("edit.channels"), radius.channels],
    [t("edit.routes"), radius.routes],
    [t("edit.bindings"), radius.bindings]
  ]
  const shown = lists.filter(([, names]) => names.length > 0)
  return (
    <Panel title={t("edit.affected")} note={t("edit.pinned", { count: radius.pinned_snapshots })}>
      {shown.length === 0 ? (
        <Empty title={t("compare.none")} />
      ) : (
        <dl className="facts">
          {shown.map(([name, names]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{names.join(", ")}</dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  )
}

export const EditPreview = ({ preview }: { readonly preview: Preview }) => (
  <>
    <Problems problems={preview.problems} />
    {preview.warnings.map(({ path, reason }, index) => (
      <p key={index} className="step-line tone-warn">
        <Shape tone="warn" /> <code>{path}</code> {tReason(reason)}
      </p>
    ))}
    <Differences diff={preview.diff} />
    <Credentials credentials={preview.credentials} />
    <Affected radius={preview.blast_radius} />
  </>
)
