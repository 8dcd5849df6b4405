/** The editor of YAML: colours, completion and explanations from the schema, problems of the service at their lines. Loaded on demand. */
import { autocompletion, completionKeymap } from "@codemirror/autocomplete"
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete"
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { yaml } from "@codemirror/lang-yaml"
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import { lintGutter, setDiagnostics } from "@codemirror/lint"
import { EditorState } from "@codemirror/state"
import { drawSelection, EditorView, hoverTooltip, keymap, lineNumbers } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { useEffect, useRef } from "react"
import { tReason } from "../text/T.ts"
import { describeField } from "./DescribeField.ts"
import { readTextKey, indentOfLine, findLine, findPath, listProperties, schemaAt, listValues } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"
import type { FieldProblem } from "./CheckEdit.ts"

interface EditorProps {
  readonly label: string
  readonly value: string
  readonly schema: JsonSchema
  readonly problems: ReadonlyArray<FieldProblem>
  readonly onChange: (value: string) => void
}

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.keyword, tags.bool, tags.number], color: "var(--good)" },
  { tag: tags.comment, color: "var(--quiet)" },
  { tag: [tags.punctuation, tags.separator, tags.meta], color: "var(--quiet)" }
])

const theme = EditorView.theme({
  "&": {
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    background: "var(--raised)",
    color: "var(--text)",
    fontSize: "12.5px"
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", maxHeight: "60vh", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", minHeight: "16rem" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--quiet)", border: "0" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--accent-ground) !important" },
  ".cm-tooltip": {
    background: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px"
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-ground)", color: "var(--accent)" },
  ".cm-explanation": { padding: "6px 10px", maxWidth: "46ch" }
})

const linesOf = (state: EditorState): ReadonlyArray<string> => state.doc.toString().split("\n")

/** Completes names of fields, and after a colon the values that the schema allows. */
const complete =
  (schema: JsonSchema) =>
  (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, context.pos - line.from)
    const lines = linesOf(context.state)
    const value = /^(\s*(?:- )*)([^\s:#]+):\s*(\S*)$/.exec(before)
    if (value !== null) {
      const found = schemaAt(
        schema,
        findPath(lines, line.number - 1, true, value[1]?.length === undefined ? 0 : value[1].length + 1)
      )
      const options = found === undefined ? [] : listValues(found).map((label) => ({ label, type: "enum" }))
      return options.length === 0 ? null : { from: context.pos - (value[3]?.length ?? 0), options }
    }
    const name = /^(\s*(?:- )*)([\w-]*)$/.exec(before)
    if (name === null || (name[2] === "" && !context.explicit)) return null
    const found = schemaAt(schema, findPath(lines, line.number - 1, false, name[1]?.length ?? 0))
    if (found === undefined) return null
    const options = Object.entries(listProperties(found)).map(([label, inner]) => ({
      label,
      type: "property",
      apply: `${label}: `,
      info: describeField(readTextKey(inner))
    }))
    return options.length === 0 ? null : { from: context.pos - (name[2]?.length ?? 0), options }
  }

/** Explains the field under the pointer. */
const explain = (schema: JsonSchema) =>
  hoverTooltip((view, position) => {
    const line = view.state.doc.lineAt(position)
    const found = schemaAt(schema, findPath(linesOf(view.state), line.number - 1, true, indentOfLine(line.text) + 1))
    const text = found === undefined ? "" : describeField(readTextKey(found))
    if (text === "") return null
    const create = () => {
      const dom = document.createElement("div")
      dom.className = "cm-explanation"
      dom.textContent = text
      return { dom }
    }
    return { pos: line.from, above: true, create }
  })

const nonce = (): string => document.querySelector<HTMLMetaElement>('meta[name="aicr-nonce"]')?.nonce ?? ""

const start = (
  parent: HTMLElement,
  { label, schema, value }: EditorProps,
  onChange: (value: string) => void
): EditorView =>
  new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        EditorView.cspNonce.of(nonce()),
        lineNumbers(),
        history(),
        drawSelection(),
        yaml(),
        syntaxHighlighting(colors),
        lintGutter(),
        autocompletion({ override: [complete(schema)] }),
        explain(schema),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString())
        }),
        theme
      ]
    })
  })

const YamlEditor = (props: EditorProps) => {
  const container = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (container.current === null) return undefined
    const editor = start(container.current, latest.current, (value) => latest.current.onChange(value))
    // The part that scrolls must be reachable by keyboard.
    editor.scrollDOM.tabIndex = 0
    view.current = editor
    return () => editor.destroy()
  }, [])
  const { problems, value } = props
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined) return
    const lines = linesOf(editor.state)
    const diagnostics = problems.map(({ entity, path, reason }) => {
      const line = editor.state.doc.line(findLine(lines, entity, path) + 1)
      return { from: line.from, to: line.to, severity: "error" as const, message: tReason(reason) }
    })
    editor.dispatch(setDiagnostics(editor.state, diagnostics))
  }, [problems])
  return <div ref={container} className="yaml" />
}

// oxlint-disable-next-line import/no-default-export
export default YamlEditor
