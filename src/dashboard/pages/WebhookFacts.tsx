/** What to enter for a webhook at a host, from the table of webhooks. */
import { prefix } from "../client/Call.ts"
import { Copy, Facts } from "../parts/Facts.tsx"
import type { ForgeKind } from "../../domain/Kinds.ts"
import { listFeatures, listRights, webhookFeatures, webhookSetups } from "../../domain/WebhookSetup.ts"
import { t } from "../text/T.ts"

/** Address of this service as the browser sees it, which the host may reach by another name. */
const webhookUrl = (path: string): string => `${location.origin}${prefix}${path}`

export const WebhookFacts = ({ kind }: { readonly kind: ForgeKind }) => {
  const { contentType, path, place } = webhookSetups[kind]
  return (
    <Facts
      items={[
        [t("setup.place"), place],
        [t("setup.url"), <Copy key="url" value={webhookUrl(path)} />],
        [t("setup.type"), contentType],
        [t("setup.secret"), t("setup.secret.help")],
        ...listFeatures(kind).map((feature): readonly [string, string] => [
          t(`setup.events.${feature}`),
          webhookFeatures[feature].events[kind].map(({ name }) => name).join(", ")
        ]),
        [t("setup.scopes"), listRights(kind).join(", ")]
      ]}
    />
  )
}
