/** What the nodes logged about a run. It is read when it is opened, and again while the run lasts. */
import { useState } from "react"
import { isReason } from "../../domain/Reason.ts"
import type { Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Empty, Loaded, Panel } from "../parts/Panel.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { formatClock, formatExact } from "../text/Format.ts"
import { t, tReason } from "../text/T.ts"
import type { RunDetails } from "./RunDetails.ts"
import { isEnded } from "./RunStates.ts"

type Line = Output<"GET /runs/:id/log">["lines"][number]

const tones: Readonly<Record<string, string>> = { warn: "tone-warn", error: "tone-bad", fatal: "tone-bad" }

const formatField = (value: unknown): string => {
  if (isReason(value)) return tReason(value)
  return typeof value === "string" ? value : JSON.stringify(value)
}

const LogRow = ({ line: { at, fields, level, message } }: { readonly line: Line }) => (
  <li>
    <time dateTime={at} title={formatExact(at)}>
      {formatClock(at)}
    </time>{" "}
    <span className={tones[level] ?? "quiet"}>{level}</span> {message}{" "}
    <span className="quiet">
      {Object.entries(fields)
        .map(([name, value]) => `${name}=${formatField(value)}`)
        .join(" ")}
    </span>
  </li>
)

const refreshMillis = 3000

export const RunLog = ({ run }: { readonly run: RunDetails }) => {
  const [isOpen, setOpen] = useState(false)
  const query = useApi(
    "GET /runs/:id/log",
    { params: { id: run.id } },
    { enabled: isOpen, ...(isEnded(run.status) ? undefined : { refetchInterval: refreshMillis }) }
  )
  return (
    <Panel
      title={t("run.log")}
      actions={
        <button type="button" className="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t("run.log.hide") : t("run.log.show")}
        </button>
      }
      flush
    >
      {isOpen ? (
        <Loaded query={query}>
          {({ cut, lines }) =>
            lines.length === 0 ? (
              <Empty title={t("run.log.empty")} />
            ) : (
              <Scroll label={t("run.log")}>
                <ol className="log">
                  {lines.map((line, index) => (
                    <LogRow key={index} line={line} />
                  ))}
                </ol>
                {cut ? <p className="quiet">{t("run.log.cut")}</p> : null}
              </Scroll>
            )
          }
        </Loaded>
      ) : null}
    </Panel>
  )
}
