/** What a run read, and what it did not read and why. */
import { Empty, Panel } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { formatCount } from "../text/Format.ts"
import { t, tValue } from "../text/T.ts"
import { sum } from "./Numbers.ts"
import type { RunDetails } from "./RunDetails.ts"

const shownFiles = 200

type Skipped = NonNullable<RunDetails["coverage"]>["skipped"][number]

const SkippedRow = ({ file }: { readonly file: Skipped }) => (
  <li>
    <Status group="skip" value={file.reason} tone={file.unread === true ? "warn" : "quiet"} />
    <div>
      <span className="mono break">{file.path}</span>
      {file.rule === undefined ? null : <p className="quiet mono">{file.rule}</p>}
      {file.changed === undefined || file.read === undefined ? null : (
        <p className="quiet">
          {t("coverage.lines", { read: formatCount(file.read), changed: formatCount(file.changed) })}
        </p>
      )}
    </div>
  </li>
)

const Settings = ({ run: { settings } }: { readonly run: RunDetails }) => {
  if (settings === undefined) return null
  const list = (names: ReadonlyArray<string>): string => names.join(" · ") || "–"
  return (
    <p className="quiet">
      {settings.found
        ? t("coverage.settings", { applied: list(settings.applied), refused: list(settings.not_allowed) })
        : t("coverage.settings.missing")}
    </p>
  )
}

export const RunCoverage = ({ run }: { readonly run: RunDetails }) => {
  const { coverage } = run
  if (coverage === undefined) return null
  const { blind, changed, framed = [], instructions, lines, reviewed, skipped, unnamed } = coverage
  const others = (unnamed?.reviewed ?? 0) + sum(Object.values(unnamed?.skipped ?? {}))
  return (
    <Panel
      title={t("run.coverage")}
      note={t("coverage.note", {
        read: formatCount(lines),
        changed: formatCount(changed ?? lines),
        files: formatCount(reviewed.length + (unnamed?.reviewed ?? 0))
      })}
    >
      {skipped.length === 0 ? (
        <Empty title={t("coverage.all")} />
      ) : (
        <ul className="rows">
          {skipped.slice(0, shownFiles).map((file) => (
            <SkippedRow key={`${file.path} ${file.reason}`} file={file} />
          ))}
        </ul>
      )}
      {skipped.length > shownFiles || others > 0 ? (
        <p className="quiet">
          {t("coverage.more", { count: formatCount(Math.max(skipped.length - shownFiles, 0) + others) })}
        </p>
      ) : null}
      {unnamed === undefined ? null : (
        <p className="quiet">
          {Object.entries(unnamed.skipped)
            .map(([reason, count]) => `${tValue("skip", reason)}: ${formatCount(count)}`)
            .join(" · ")}
        </p>
      )}
      {blind === undefined ? null : <p className="quiet">{t("coverage.blind", { count: formatCount(blind) })}</p>}
      {framed.length === 0 ? null : (
        <details className="more">
          <summary>{t("coverage.framed", { count: formatCount(framed.length) })}</summary>
          <ul className="files mono">
            {framed.slice(0, shownFiles).map(({ path }) => (
              <li key={path} className="break">
                {path}
              </li>
            ))}
          </ul>
        </details>
      )}
      {instructions === undefined ? null : (
        <p className="quiet">
          {t("coverage.instructions", {
            sources: instructions.map(({ applied, found, source }) => `${source} ${applied}/${found}`).join(" · ")
          })}
        </p>
      )}
      <Settings run={run} />
      {run.rules.length === 0 ? null : (
        <p className="quiet">
          {t("coverage.rules", {
            rules: run.rules
              .map(({ id, muted }) => (muted === true ? `${id} (${tValue("rule", "muted")})` : id))
              .join(" · ")
          })}
        </p>
      )}
      {reviewed.length === 0 ? null : (
        <details className="more">
          <summary>{t("coverage.reviewed", { count: formatCount(reviewed.length) })}</summary>
          <ul className="files mono">
            {reviewed.slice(0, shownFiles).map((path) => (
              <li key={path} className="break">
                {path}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}
