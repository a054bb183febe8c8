-- A session of Neovim with `celadon lsp`: its diagnostics, a hover, and the buffer after formatting,
-- as JSON. Wants the command in CELADON_LSP and the name of the file for the answers in ANSWERS.

local patience = 300000
local command = vim.split(vim.env.CELADON_LSP, " ")
local root = vim.fn.getcwd()
local client = vim.lsp.start_client({ name = "celadon", cmd = command, root_dir = root })
vim.lsp.buf_attach_client(0, client)
vim.wait(patience, function() return #vim.diagnostic.get(0) > 0 end, 50)

local said = {}
for _, one in ipairs(vim.diagnostic.get(0)) do
  table.insert(said, { line = one.lnum, column = one.col, message = one.message })
end

local function ask(method, extra)
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, extra), patience)
  return answers[client].result
end

vim.fn.search("startsWith")
local hover = ask("textDocument/hover", {})
local options = { tabSize = 2, insertSpaces = true }
local edits = ask("textDocument/formatting", { options = options })
vim.lsp.util.apply_text_edits(edits, 0, "utf-16")

local answers = {
  diagnostics = said,
  hover = hover.contents.value,
  lines = vim.api.nvim_buf_get_lines(0, 0, -1, true),
}
vim.fn.writefile({ vim.fn.json_encode(answers) }, vim.env.ANSWERS)
vim.lsp.stop_client(client)
vim.cmd("qall!")
