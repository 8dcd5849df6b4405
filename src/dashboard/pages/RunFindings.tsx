/** Problems that a run found, beside the code that they are about, with what people did about them. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { ExternalLink } from "../parts/Facts.tsx"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Prose } from "../parts/Prose.tsx"
import { shownRound } from "../parts/RoundText.ts"
import { Status } from "../parts/Status.tsx"
import { Time } from "../parts/Time.tsx"
import { formatRate } from "../text/Format.ts"
import { t, tReason, tValue } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"
import { isEnded } from "./RunStates.ts"
import "../text/PagedTexts.ts"

type Finding = Output<"GET /runs/:id/compare">["added"][number]
type Followed = RunDetails["findings"][number]

const severities = ["critical", "high", "medium", "low", "info"]

const bySeverity = <A extends { readonly severity: string }>(findings: ReadonlyArray<A>): ReadonlyArray<A> =>
  findings.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))

const placeOf = ({ end_line: end, file, line }: Finding): string =>
  line === undefined ? file : `${file}:${line}${end === undefined || end === line ? "" : `–${end}`}`

/** Removes the white space that every line begins with. */
const withoutIndent = (text: string): string => {
  const lines = text.split("\n")
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const common = Math.min(...indents, 200)
  return lines.map((line) => line.slice(Math.min(common, line.length - line.trimStart().length))).join("\n")
}

const Code = ({ label, text }: { readonly label: string; readonly text: string }) => (
  // Long lines scroll, which must be possible by keyboard.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <pre className="code" tabIndex={0} role="region" aria-label={label}>
    <code>{withoutIndent(text)}</code>
  </pre>
)

const Outcome = ({ finding, run }: { readonly finding: Followed; readonly run: string | undefined }) => {
  const { outcome, url } = finding
  return (
    <>
      {outcome === undefined ? null : <Status group="finding" value={outcome.status} />}
      {outcome?.replied === true ? <span className="quiet">{t("finding.replied")}</span> : null}
      {url === undefined ? null : <ExternalLink href={url}>{t("finding.thread")}</ExternalLink>}
      {outcome === undefined || outcome.found_in === run ? null : (
        <Link to="/runs/$id" params={{ id: outcome.found_in }} className="quiet">
          {t("finding.since")}
        </Link>
      )}
    </>
  )
}

/** The lines of the reviewed diff around a finding, read when they are opened. */
const Context = ({ fingerprint, run }: { readonly fingerprint: string; readonly run: string }) => {
  const [isOpen, setOpen] = useState(false)
  const query = useApi(
    "GET /runs/:id/findings/:fingerprint/diff",
    { params: { id: run, fingerprint } },
    { enabled: isOpen }
  )
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t("finding.context")}</summary>
      {isOpen ? (
        <Loaded query={query}>
          {({ diff }) =>
            diff === "" ? (
              <p className="quiet">{t("finding.context.missing")}</p>
            ) : (
              <Code label={t("finding.context")} text={diff} />
            )
          }
        </Loaded>
      ) : null}
    </details>
  )
}

/** What people wrote about a finding, and what the service replied. */
const Conversation = ({ exchanges }: { readonly exchanges: NonNullable<Followed["conversation"]> }) => (
  <details>
    <summary>{t("exchange.count", { count: exchanges.length })}</summary>
    {exchanges.map(({ at, author, evidence, outcome, question, reply, run_id: id }) => (
      <div key={id} className="exchange">
        <p className="quiet">
          {t("exchange.by", { name: author ?? "–" })} <Time at={at} />
        </p>
        <blockquote>{question}</blockquote>
        <p className="quiet">
          {reply === "" ? t("exchange.without") : t("exchange.reply")}: {tValue("exchange", outcome)}
        </p>
        {reply === "" ? null : (
          <div className="prose">
            <Prose text={reply} />
          </div>
        )}
        {evidence === undefined ? null : <Code label={`${evidence.path}:${evidence.line}`} text={evidence.quote} />}
      </div>
    ))}
  </details>
)

const Round = ({ round }: { readonly round: Followed["round"] }) => {
  const shown = shownRound(round)
  return shown === undefined ? null : (
    <span className="quiet">{t(`finding.round.${shown}`, { round: round?.missed ?? 0 })}</span>
  )
}

interface FindingCardProps {
  readonly finding: Followed
  readonly note?: string
  /** Id of the run that lists it, if its lines can be shown. */
  readonly run?: string
}

export const FindingCard = ({ finding, note, run }: FindingCardProps) => (
  <article className={`finding severity-${finding.severity}`}>
    <header>
      <Status group="severity" value={finding.severity} />
      <h3>{finding.title ?? finding.message.slice(0, 120)}</h3>
      <span className="quiet">{tValue("category", finding.category)}</span>
    </header>
    <p className="finding-place mono">{placeOf(finding)}</p>
    {finding.quote === undefined ? null : (
      <Code label={t("finding.code", { place: placeOf(finding) })} text={finding.quote} />
    )}
    {run === undefined || finding.anchor === null ? null : <Context run={run} fingerprint={finding.fingerprint} />}
    <div className="prose">
      <Prose text={finding.message} />
    </div>
    {finding.suggestion === undefined ? null : (
      <details>
        <summary>{t("finding.suggestion")}</summary>
        <Code label={t("finding.suggestion")} text={finding.suggestion} />
      </details>
    )}
    {note === undefined ? null : <p className="quiet">{note}</p>}
    {finding.conversation === undefined ? null : <Conversation exchanges={finding.conversation} />}
    <footer>
      <Outcome finding={finding} run={run} />
      {finding.probe === true ? <span className="quiet">{t("finding.probe")}</span> : null}
      <Round round={finding.round} />
      {finding.rule === undefined ? null : <span className="quiet">{t("reviewed.rule", { rule: finding.rule })}</span>}
      {finding.anchor === null ? <span className="quiet">{t("finding.unanchored")}</span> : null}
      {finding.fact === undefined ? null : <span className="quiet">{t("reviewed.fact")}</span>}
      {finding.confidence === undefined || finding.fact !== undefined ? null : (
        <span className="quiet">{t("finding.confidence", { rate: formatRate(finding.confidence) })}</span>
      )}
    </footer>
  </article>
)

/** Why there is no finding to show. */
const emptyText = ({ partial, private: delivered, status }: RunDetails) => {
  if (delivered !== undefined) return "run.findings.others"
  if (status === "succeeded") return partial ? "run.findings.partial" : "run.findings.none"
  return isEnded(status) ? "run.findings.pending" : "run.findings.running"
}

export const RunFindings = ({ run }: { readonly run: RunDetails }) => (
  <Panel title={t("run.findings", { count: run.findings.length })}>
    {run.findings.length === 0 ? (
      <Empty title={t(emptyText(run))} />
    ) : (
      bySeverity(run.findings).map((finding) => (
        <FindingCard key={finding.fingerprint} finding={finding} run={run.id} />
      ))
    )}
    {run.private === undefined ? null : (
      <p className="quiet">
        {t("run.private", { count: run.private })}
        {run.private_findings.map(({ digest, outcome, severity }) => (
          <span key={digest}>
            {" "}
            {tValue("severity", severity)} <span className="mono">{digest.slice(0, 12)}</span>
            {outcome === undefined ? null : <Status group="finding" value={outcome.status} />}
          </span>
        ))}
      </p>
    )}
    {run.refuted.length === 0 ? null : (
      <details className="more">
        <summary>{t("run.refuted", { count: run.refuted.length })}</summary>
        {run.refuted.map(({ finding, model, reason, undecided }) => (
          <FindingCard
            key={finding.fingerprint}
            finding={finding}
            note={t(undecided === true ? "run.undecided.by" : "run.refuted.by", { model, reason })}
          />
        ))}
      </details>
    )}
    {run.late_findings.length === 0 ? null : (
      <details className="more">
        <summary>{t("run.late", { count: run.late_findings.length })}</summary>
        {bySeverity(run.late_findings).map((finding) => (
          <FindingCard key={finding.fingerprint} finding={finding} />
        ))}
      </details>
    )}
    {run.folded_findings.length === 0 ? null : (
      <details className="more">
        <summary>{t("run.folded", { count: run.folded_findings.length })}</summary>
        {run.folded_findings.map(({ finding, why }) => (
          <FindingCard key={finding.fingerprint} finding={finding} note={tReason(why)} />
        ))}
      </details>
    )}
    {run.ignored_dismissals.length === 0 ? null : (
      <p className="quiet">
        {t("run.dismissals", { people: run.ignored_dismissals.flatMap(({ by }) => by).join(", ") })}
      </p>
    )}
  </Panel>
)
