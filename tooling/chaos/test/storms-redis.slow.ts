import { stormsAreWeathered } from './storms.js';

stormsAreWeathered('redis');
