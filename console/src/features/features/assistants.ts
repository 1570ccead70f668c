/** Ready-made configuration for programs that speak the Model Context Protocol; the token is the reader's own. */
const json = (value: unknown) => JSON.stringify(value, null, 2);

export const assistantsAt = (url: string): Record<string, string> => ({
  'Claude Code': `claude mcp add --transport http atrium '${url}' \\\n  --header "Authorization: Bearer $ATRIUM_TOKEN"`,
  'Claude Desktop': json({
    mcpServers: {
      atrium: {
        command: 'npx',
        args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${ATRIUM_AUTH}'],
        env: { ATRIUM_AUTH: 'Bearer <token>' },
      },
    },
  }),
  'VS Code': json({
    inputs: [{ type: 'promptString', id: 'atrium-token', description: 'Atrium API token', password: true }],
    servers: { atrium: { type: 'http', url, headers: { Authorization: 'Bearer ${input:atrium-token}' } } },
  }),
  Cursor: json({ mcpServers: { atrium: { url, headers: { Authorization: 'Bearer ${env:ATRIUM_TOKEN}' } } } }),
});
