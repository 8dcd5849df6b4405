/** What decided about a delivery: its rule, and each setting that a reason names, with its value and where that is set. */
import { Link } from "@tanstack/react-router"
import { useApi } from "../client/Queries.ts"
import { Facts } from "../parts/Facts.tsx"
import { Panel } from "../parts/Panel.tsx"
import { namedFields, t, tReason } from "../text/T.ts"
import { findSettings } from "./FindSettings.ts"
import type { Setting } from "./FindSettings.ts"
import type { Reason } from "../../domain/Reason.ts"

const SettingFacts = ({ setting: { isGroup, name, origin, path, value } }: { readonly setting: Setting }) => (
  <Facts
    items={[
      [t("delivery.setting"), <code key="name">{name}</code>],
      !isGroup && [t("delivery.value"), <code key="value">{JSON.stringify(value)}</code>],
      [
        t("delivery.origin"),
        <Link key="origin" to="/configuration" search={{ q: isGroup ? name : path }}>
          {tReason(origin)}
        </Link>
      ]
    ]}
  />
)

interface Props {
  readonly rule: Reason | undefined
  /** The rule, and the reasons of the outcome. */
  readonly reasons: ReadonlyArray<Reason>
  readonly workspace: string | undefined
}

export const DecidedBy = ({ reasons, rule, workspace }: Props) => {
  const all = useApi("GET /config", {})
  const own = useApi(
    "GET /config/workspaces/:id",
    { params: { id: workspace ?? "" } },
    { enabled: workspace !== undefined }
  )
  const settings = findSettings(namedFields(reasons), {
    own: own.data?.values ?? [],
    all: all.data?.values ?? []
  })
  if (rule === undefined && settings.length === 0) return null
  return (
    <Panel title={t("delivery.decided")}>
      {rule === undefined ? null : <Facts items={[[t("delivery.rule"), <code key="rule">{tReason(rule)}</code>]]} />}
      {settings.map((setting) => (
        <SettingFacts key={setting.name} setting={setting} />
      ))}
    </Panel>
  )
}
