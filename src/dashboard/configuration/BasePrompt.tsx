/** The built-in base prompt, which a workspace replaces with `prompt.system_prompt`: read-only, as a start for an own one. */
import { basePrompt } from "../../domain/BasePrompt.ts"
import { Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"

export const BasePrompt = ({ onCopy }: { readonly onCopy: () => void }) => (
  <Panel
    title={t("prompt.base")}
    note={t("prompt.base.note")}
    actions={
      <button type="button" className="small" onClick={onCopy}>
        {t("prompt.base.copy")}
      </button>
    }
  >
    <pre className="wrap">{basePrompt}</pre>
  </Panel>
)
