import { viteSingleFile } from 'vite-plugin-singlefile';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    target: 'es2022',
    reportCompressedSize: false,
    rollupOptions: { input: 'page.html' },
  },
  test: { include: ['tests/*.test.ts'] },
});
